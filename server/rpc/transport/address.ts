// The default address of a repository's backend: a short path in a folder that only this user can
// read.

import { createHash } from 'node:crypto';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';

/** `key` names the repository (git's common folder). The same key gives the same path. */
export function defaultSocketPath(key: string, env: NodeJS.ProcessEnv): string {
  const name = createHash('sha256').update(key).digest('hex').slice(0, 16);
  if (process.platform === 'win32') return `\\\\.\\pipe\\drover-${userInfo().username}-${name}`;
  const runtime = env['XDG_RUNTIME_DIR'];
  const base =
    runtime !== undefined && runtime !== ''
      ? join(runtime, 'drover')
      : join(tmpdir(), `drover-${userNumber()}`);
  const path = join(base, `${name}.sock`);
  // A socket path holds about 104 bytes; a deep temporary folder must not make the backend
  // unreachable.
  return Buffer.byteLength(path) <= 100
    ? path
    : join('/tmp', `drover-${userNumber()}`, `${name}.sock`);
}

/**
 * The agents' socket, in a separate folder: a confined agent sees that folder, and the next
 * backend's socket appears in it too. Null if there are no socket files.
 */
export function agentSocketPath(key: string, env: NodeJS.ProcessEnv): string | null {
  if (process.platform === 'win32') return null;
  const name = createHash('sha256').update(key).digest('hex').slice(0, 16);
  return join(dirname(defaultSocketPath(key, env)), `a-${name}`, 's');
}

/** Of this user; some users of containers have no name. */
function userNumber(): number {
  return process.getuid?.() ?? userInfo().uid;
}
