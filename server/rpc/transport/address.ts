// Where a backend of a repository listens when nobody says otherwise: a short path in a folder of this user alone.

import { createHash } from 'node:crypto';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** `key` names the repository (git's common folder). The same key gives the same path. */
export function defaultSocketPath(key: string, env: NodeJS.ProcessEnv): string {
  const name = createHash('sha256').update(key).digest('hex').slice(0, 16);
  if (process.platform === 'win32') return `\\\\.\\pipe\\drover-${userInfo().username}-${name}`;
  const runtime = env['XDG_RUNTIME_DIR'];
  const base =
    runtime !== undefined && runtime !== ''
      ? join(runtime, 'drover')
      : join(tmpdir(), `drover-${userInfo().uid}`);
  const path = join(base, `${name}.sock`);
  // A socket path holds about 104 bytes; a deep temporary folder must not make the backend unreachable.
  return Buffer.byteLength(path) <= 100
    ? path
    : join('/tmp', `drover-${userInfo().uid}`, `${name}.sock`);
}
