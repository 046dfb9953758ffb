// The backend's process: `backend <root>`. It prints refusals to standard error, as one JSON line
// for the process that started it.

import { Refusal } from '../core/failure.ts';
import { runBackend } from './backend.ts';
import { exitAlreadyRunning } from './start-backend.ts';

async function main(root: string | undefined): Promise<number> {
  if (root === undefined) {
    process.stderr.write('usage: backend <project root>\n');
    return 64;
  }
  try {
    await runBackend({ root });
    return 0;
  } catch (error) {
    if (error instanceof Refusal) {
      process.stderr.write(
        `${JSON.stringify({ refusal: { kind: error.kind, message: error.message } })}\n`,
      );
      return error.kind === 'already_running' ? exitAlreadyRunning : 3;
    }
    process.stderr.write(
      `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    return 1;
  }
}

void main(process.argv[2]).then((code) => process.exit(code));
