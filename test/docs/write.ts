// `npm run docs`: writes the parts of the documents that come from the code.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withTable } from './agents-table.ts';

const file = join(import.meta.dirname, '..', '..', 'docs', 'agents.md');
writeFileSync(file, withTable(readFileSync(file, 'utf8')));
