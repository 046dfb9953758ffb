// The page of the rules for pull requests.

import { connectHost } from '../shared/host.ts';
import { DroverRules } from './drover-rules.ts';

const rules = new DroverRules();
rules.host = connectHost();
document.body.append(rules);
