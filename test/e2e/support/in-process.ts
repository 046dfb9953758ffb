// A command of a test that only wants to see how far things are, or writes what it needs first: by the command's own code,
// over the socket of the project's backend, without a process. Half of the CPU of many a test was the start of Node.

import * as connect from '../../../server/main/connect.ts';
import { memoryTerminal } from '../../doubles/terminal.ts';
import type { FinishedProgram } from './run-program.ts';

/** Null, and nothing done, where no backend runs: a command reads the database by itself then, or starts one. */
export async function runInProcess(
  root: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<FinishedProgram | null> {
  let hasBackend = true;
  const terminal = memoryTerminal({
    ...connect,
    openClient: async (options) => {
      const client = await connect.openClient({ ...options, need: 'existing' });
      hasBackend = client !== null;
      return client;
    },
  });
  Object.assign(terminal.env, env);
  terminal.nowMs = Date.now();
  const code = await terminal.run('-C', root, ...args);
  if (!hasBackend) return null;
  return { args, code, stdout: terminal.stdout.text, stderr: terminal.stderr.text };
}
