// The command in this process: the same code from arguments to exit code, with its own
// surroundings. It is for rows that need no process: nothing is started, no signals are handled,
// and only the command itself ends it.

import { PassThrough } from 'node:stream';
import { runCommand } from '../../../../server/cli/run-command.ts';
import type { Output } from '../../../../server/cli/surroundings.ts';
import { environmentOf, runDrover, timeoutDefaultMs, type Call, type Ended } from './command.ts';
import { patience } from '../../../patience.ts';

/** These start a backend, which is a process that runs the bundles. */
const startsBackend: ReadonlySet<string> = new Set(['run', 'resume', 'server', 'undo', 'plan']);

/** Git and the database see the same environment in this process as in a separate one. */
process.env['HOME'] = '/nonexistent';
process.env['DROVER_SANDBOX'] = 'off';

export async function runHere(call: Call): Promise<Ended> {
  if (call.isBound === true || call.args.some((word) => startsBackend.has(word))) {
    return await runDrover(call);
  }
  const [stdout, stderr] = [memoryOutput(), memoryOutput()];
  const code = runCommand(call.args, {
    cwd: call.cwd,
    env: environmentOf(call),
    stdout,
    stderr,
    readStdin: async () => Buffer.from(call.stdin ?? ''),
    pipes: () => ({ input: new PassThrough(), output: new PassThrough() }),
    askLine: null,
    loadBackends: async () => await import('../../../../server/main/connect.ts'),
    nowMs: () => Date.now(),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    onInterrupt: () => () => {},
    exitNow: (ending) => {
      throw new Error(`the command would end its process with ${ending}`);
    },
  });
  const { promise: late, resolve: tell } = Promise.withResolvers<null>();
  const timer = setTimeout(tell, (call.timeoutMs ?? timeoutDefaultMs) * patience, null);
  const ended = await Promise.race([code, late]);
  clearTimeout(timer);
  return { code: ended, stdout: stdout.text, stderr: stderr.text, isLate: ended === null };
}

interface MemoryOutput extends Output {
  text: string;
}

function memoryOutput(): MemoryOutput {
  return {
    text: '',
    isTTY: false,
    columns: 80,
    rows: 24,
    isClosed: false,
    write(text) {
      this.text += text;
    },
    onClosed: () => () => {},
  };
}
