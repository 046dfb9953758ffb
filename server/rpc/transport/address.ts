// The default address of a repository's backend: a short path in a folder that only this user can
// read.

import { createHash } from 'node:crypto';
import { tmpdir, userInfo } from 'node:os';
import type { SocketPlace } from '../../platform/port.ts';
import { thisPlatform } from '../../platform/this-platform.ts';

/** `key` names the repository (git's common folder). The same key gives the same path. */
export function defaultSocketPath(key: string, env: NodeJS.ProcessEnv): string {
  return thisPlatform.socketPath(placeOf(key, env));
}

/**
 * The agents' socket, in a separate folder: a confined agent sees that folder, and the next
 * backend's socket appears in it too. Returns null if there are no socket files.
 */
export function agentSocketPath(key: string, env: NodeJS.ProcessEnv): string | null {
  return thisPlatform.agentSocketPath(placeOf(key, env));
}

function placeOf(key: string, env: NodeJS.ProcessEnv): SocketPlace {
  const name = createHash('sha256').update(key).digest('hex').slice(0, 16);
  const userNumber = process.getuid?.() ?? -1;
  // Some users of containers have a number and no name.
  const user = process.getuid === undefined ? userInfo().username : String(userNumber);
  return { name, user, userNumber, temporaryFolder: tmpdir(), env };
}
