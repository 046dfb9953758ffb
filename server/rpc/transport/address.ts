// The default address of a repository's backend: a short path in a folder that only this user can
// read.

import { createHash } from 'node:crypto';
import { tmpdir, userInfo } from 'node:os';
import type { SocketPlace } from '../../platform/port.ts';
import { thisPlatform } from '../../platform/this-platform.ts';

/** `key` identifies the repository (git's common folder). The same key gives the same path. */
export function defaultSocketPath(key: string, env: NodeJS.ProcessEnv): string {
  return thisPlatform.socketPath(placeOf(key, env));
}

/**
 * The agents' socket, in a separate folder that a confined agent can see, so that the next
 * backend's socket appears in it too. Returns null if sockets are not files.
 */
export function agentSocketPath(key: string, env: NodeJS.ProcessEnv): string | null {
  return thisPlatform.agentSocketPath(placeOf(key, env));
}

function placeOf(key: string, env: NodeJS.ProcessEnv): SocketPlace {
  const name = createHash('sha256').update(key).digest('hex').slice(0, 16);
  const userNumber = process.getuid?.() ?? -1;
  // Users of some containers have a number but no name.
  const user = process.getuid === undefined ? userInfo().username : String(userNumber);
  return { name, user, userNumber, temporaryFolder: tmpdir(), env };
}
