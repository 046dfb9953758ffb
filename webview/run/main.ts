// The page of runs.

import { connectHost } from '../shared/host.ts';
import { DroverRun } from './drover-run.ts';

const run = new DroverRun();
run.host = connectHost();
document.body.append(run);
