// The backend's own process: `backend <root>`. Refusals go to standard error as one JSON line for whoever started it.

import { Refusal } from '../core/failure.ts';
import { runBackend } from './backend.ts';
import { exitAlreadyRunning } from './start-backend.ts';

const root = process.argv[2];
if (root === undefined) {
  process.stderr.write('usage: backend <project root>\n');
  process.exit(64);
}
try {
  await runBackend({ root });
  process.exit(0);
} catch (error) {
  if (error instanceof Refusal) {
    process.stderr.write(
      `${JSON.stringify({ refusal: { kind: error.kind, message: error.message } })}\n`,
    );
    process.exit(error.kind === 'already_running' ? exitAlreadyRunning : 3);
  }
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exit(1);
}
