// Finds an agent's program before it is started, so that a missing one is reported in one sentence
// and costs nothing.

import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { isProgram } from '../../../files/is-program.ts';
import type { AgentRequest } from '../../port.ts';
import { thisPlatform } from '../../../platform/this-platform.ts';

/** The full path of a program, searched for like the shell does. Null if none can be started. */
export function findProgram(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
  baseDir: string,
): string | null {
  const candidates =
    isAbsolute(name) || name.includes('/') || name.includes('\\')
      ? [resolve(baseDir, name)]
      : (environment['PATH'] ?? environment['Path'] ?? '')
          .split(delimiter)
          // A relative entry would depend on the backend's current folder.
          .filter((folder) => isAbsolute(folder))
          .map((folder) => join(folder, name));
  const endings = new Set(['', ...thisPlatform.programEndings(environment)]);
  for (const candidate of candidates) {
    for (const ending of endings) {
      if (isProgram(candidate + ending)) return candidate + ending;
    }
  }
  return null;
}

/**
 * As above, but the program of an agent on a worker need not exist on this machine. Its name is
 * looked up there.
 */
export function findProgramFor(
  request: Pick<AgentRequest, 'env' | 'runsOn'>,
  name: string,
  baseDir: string,
): string | null {
  const found = findProgram(name, request.env, baseDir);
  return found === null && request.runsOn === 'remote' ? name : found;
}
