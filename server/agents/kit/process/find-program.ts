// Finds an agent's program before it is started, so that a missing one is reported in one sentence
// and costs nothing.

import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { isProgram } from '../../../files/is-program.ts';
import type { AgentRequest } from '../../port.ts';
import { thisPlatform } from '../../../platform/this-platform.ts';

/** The full path of a program, looked up like the shell does it; null if none can be started. */
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
          // A relative entry would mean whichever folder the backend happens to be in.
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
 * Like above, but an agent that runs on a worker need not be on this machine: its own name is
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
