// The page of a plan that is not on the board yet.

import { connectHost } from '../shared/host.ts';
import { DroverPlan } from './drover-plan.ts';

const plan = new DroverPlan();
plan.host = connectHost();
document.body.append(plan);
