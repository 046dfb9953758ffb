// node test/replay/main.ts --repository PATH [--tip REV] [--commits N] --setup CMD --gate CMD
// [--workers N] [--env A,B] [--keep] replays the last commits of a repository as tasks, and reports
// whether all of them landed, and how often the setup ran.

import { parseArgs } from 'node:util';
import { readHistory } from './history.ts';
import { replay } from './replay.ts';

const { values } = parseArgs({
  options: {
    repository: { type: 'string' },
    tip: { type: 'string', default: 'HEAD' },
    commits: { type: 'string', default: '40' },
    setup: { type: 'string' },
    gate: { type: 'string' },
    workers: { type: 'string', default: '4' },
    env: { type: 'string', default: '' },
    keep: { type: 'boolean', default: false },
  },
});
const { repository, setup, gate } = values;
const [commits, workers] = [Number(values.commits), Number(values.workers)];
if (
  repository === undefined ||
  setup === undefined ||
  gate === undefined ||
  ![commits, workers].every((count) => Number.isSafeInteger(count) && count > 0)
) {
  console.error(
    '--repository, --setup and --gate are needed; --commits and --workers are whole numbers',
  );
  process.exit(2);
}

const history = readHistory(repository, values.tip, commits);
const variables = values.env.split(',').filter((name) => name !== '');
const { code, said, open, approved, isTreeEqual, setups, counted, seconds } = await replay({
  repository,
  history,
  setup,
  gate,
  workers,
  variables,
  isKept: values.keep,
});
console.log(said.trim());
for (const line of open) console.log(`open: ${line}`);
const counts = Map.groupBy(counted, (line) => line);
for (const [line, all] of counts) console.log(`${all.length} × ${line}`);
if (approved.length > 0) console.log(`approved: ${approved.join(' ')}`);
console.log(`setups: ${setups.map((path) => path.slice(path.lastIndexOf('/') + 1)).join(' ')}`);
console.log(
  `${history.tasks.length - open.length} of ${history.tasks.length} landed in ${seconds} s, exit code ${code}; ` +
    `the tree ${isTreeEqual ? 'equals' : 'differs from'} the history's; ${setups.length} setups for ${history.setupStates} states`,
);
process.exitCode = code === 0 && open.length === 0 && isTreeEqual ? 0 : 1;
