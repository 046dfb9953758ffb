// The path of the git program, determined once, and never in a folder that depends on a process's
// current directory.

import { delimiter, isAbsolute, join } from 'node:path';
import { isProgram } from './is-program.ts';
import { thisPlatform } from '../platform/this-platform.ts';

/**
 * A search path without its relative entries. Git is started in folders that agents write to: with
 * `./node_modules/.bin` on the user's PATH, an agent's file called `git` would be executed.
 */
export function absoluteEntries(path: string): string {
  return path
    .split(delimiter)
    .filter((entry) => isAbsolute(entry))
    .join(delimiter);
}

/**
 * The full path of a program, or its bare name if it is not found (starting it then reports that).
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
