// When the backend gets V8's compilers of machine code. The optimizing ones bring 10 MB of Node
// into memory, and all of them keep what they made; a run of a hundred tasks is over before that
// pays.

import { setFlagsFromString } from 'node:v8';

/** CPU time of this process from which on they are worth their memory: about a hundred tasks. */
const cpuMsMin = 5_000;
const compilers = ['opt', 'maglev', 'sparkplug'];

/** Arguments of Node for a process that begins without them. */
export const withoutCompilers: readonly string[] = compilers.map((name) => `--no-${name}`);

let isOptimizing = false;

/** To be called now and then. Does nothing in a process that was started with them. */
export function optimizeOnceBusy(atLeastMs: number = cpuMsMin): void {
  if (isOptimizing || !withoutCompilers.every((flag) => process.execArgv.includes(flag))) return;
  const { user, system } = process.cpuUsage();
  if ((user + system) / 1_000 < atLeastMs) return;
  isOptimizing = true;
  for (const name of compilers) setFlagsFromString(`--${name}`);
  // The code that is kept at the end is of use only to a process that starts with the same flags.
  process.prependOnceListener('exit', () => {
    for (const flag of withoutCompilers) setFlagsFromString(flag);
  });
}
