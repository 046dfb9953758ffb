// Agents of the kind `command`: small shell programs, and the files through which they and a test
// wait for each other.

import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes an agent with this body; `$DROVER_TASK_ID` and `$DROVER_ATTEMPT` are set, and the prompt
 * is on standard input.
 */
export function writeAgent(folder: string, body: string, name = 'agent.sh'): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\nset -eu\nid=$DROVER_TASK_ID\nattempt=$DROVER_ATTEMPT\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** The simplest agent: writes one file named after its task. */
export const writesOneFile = `
cat > /dev/null
echo "work of $id" > "$id.txt"
echo "wrote $id.txt"
`;

/** A barrier: a reader of a line waits until the test has written one. */
export interface Barrier {
  readonly path: string;
  /** A shell command that waits here. */
  readonly wait: string;
  /** Lets this many through. */
  open(count?: number): void;
  close(): void;
}

export function makeBarrier(folder: string, name: string): Barrier {
  const path = join(folder, name);
  execFileSync('mkfifo', [path]);
  // Opened for reading and writing, so that the test never waits for a reader and its writes stay
  // in the pipe.
  const descriptor = openSync(path, 'r+');
  return {
    path,
    wait: `read -r line < '${path}'`,
    open: (count = 1) => void writeSync(descriptor, 'go\n'.repeat(count)),
    close: () => closeSync(descriptor),
  };
}
