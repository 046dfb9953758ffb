// `network-gate.cjs`: connects a sandbox to the hosts in `[sandbox] network`. It runs once outside,
// around the sandbox, and once inside, around the program. It lives as long as the program, so that
// an agent that outlives its backend keeps its network.

import { runInside } from '../sandbox/network/inside.ts';
import { runOutside } from '../sandbox/network/outside.ts';

const [half, told = '[]', ...command] = process.argv.slice(2);
const list: unknown = JSON.parse(told);
const ended =
  half === 'outside'
    ? runOutside(list as readonly string[], command)
    : runInside(list as readonly number[], command);
ended.then(
  (exitCode) => process.exit(exitCode),
  (error: unknown) => {
    process.stderr.write(`drover: ${String(error)}\n`);
    process.exit(126);
  },
);
