// From arguments to an exit code: parses, runs, and reports refusals, errors and wrong usage as the
// contract says.

import { CommanderError } from 'commander';
import { Refusal } from '../core/failure.ts';
import { CommandContext } from './context.ts';
import { type ErrorKind, exitCodeForError, exitCodes } from './exit-codes.ts';
import { jsonLine, plainText } from './plain-text.ts';
import { readGlobalOptions } from './program/options.ts';
import { buildProgram } from './program/program.ts';
import { withoutHelpOfNothing } from './program/unknown-words.ts';
import type { Surroundings } from './surroundings.ts';

/** Runs one command line (without `node` and the script) to its end. */
export async function runCommand(
  args: readonly string[],
  surroundings: Surroundings,
): Promise<number> {
  let code: number = exitCodes.done;
  const program = buildProgram({
    write: (text) => surroundings.stdout.write(text),
    writeError: (text) => surroundings.stderr.write(text),
    run: async (command, handler) => {
      const context = new CommandContext(surroundings, readGlobalOptions(command));
      try {
        code = await handler(context);
      } finally {
        context.close();
      }
    },
  });
  try {
    await program.parseAsync(withoutHelpOfNothing(program, args), { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return exitCodes.done;
      printFailure(surroundings, args, 'usage', error.message.replace(/^error: /u, ''), false);
      return exitCodeForError('usage');
    }
    const kind = error instanceof Refusal ? error.kind : 'internal';
    const message = error instanceof Error ? error.message : String(error);
    printFailure(surroundings, args, kind, message, true);
    return exitCodeForError(kind);
  }
}

/** One sentence for people. With `--json`, also an object on standard output. */
function printFailure(
  { stdout, stderr }: Surroundings,
  args: readonly string[],
  kind: ErrorKind,
  message: string,
  tell: boolean,
): void {
  if (tell) stderr.write(`drover: ${plainText(message)}\n`);
  const end = args.indexOf('--');
  const options = end === -1 ? args : args.slice(0, end);
  if (options.includes('--json')) stdout.write(`${jsonLine({ error: { kind, message } })}\n`);
}
