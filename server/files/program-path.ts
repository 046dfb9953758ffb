// The path of the git program: looked up once, and never in a folder that depends on the current
// directory of a process.

import { delimiter, isAbsolute, join } from 'node:path';
import { isProgram } from './is-program.ts';
import { thisPlatform } from '../platform/this-platform.ts';

/**
 * A search path without its relative entries. Git is started in folders that agents write:
 * `./node_modules/.bin` on the user's PATH would make an agent's file called `git` our program.
 */
export function absoluteEntries(path: string): string {
  return path
    .split(delimiter)
    .filter((entry) => isAbsolute(entry))
    .join(delimiter);
}

/**
 * The full path of a program, or its bare name if it is not found (its start then reports that).
 */
export function programOnPath(
  name: string,
  environment: Readonly<Record<string, string | undefined>>,
): string {
  const path = environment['PATH'] ?? environment['Path'] ?? '';
  const endings = thisPlatform.programEndings(environment);
  for (const folder of absoluteEntries(path).split(delimiter)) {
    for (const ending of endings) {
      const candidate = join(folder, name + ending);
      if (folder !== '' && isProgram(candidate)) return candidate;
    }
  }
  return name;
}
