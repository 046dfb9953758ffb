// Detects git's version and whether it is new enough.

import { err, ok } from '../../core/failure.ts';
import { failureOf, refuse } from '../failures.ts';
import type { GitProcesses } from './process.ts';
import type { GitResult } from '../port.ts';

/** The first version with `merge-tree --write-tree`. */
const oldest: readonly [number, number] = [2, 38];

/** Parses `git version 2.39.5 (Apple Git-154)`. */
export function parseVersion(text: string): string | null {
  return /^git version (\d+\.\d+(?:\.\d+)*)/.exec(text)?.[1] ?? null;
}

export function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > oldest[0] || (major === oldest[0] && minor >= oldest[1]);
}

export async function readVersion(
  processes: GitProcesses,
  cwd: string,
): Promise<GitResult<string>> {
  const output = await processes.run({ args: ['version'], cwd });
  if (output.code !== 0) return err(failureOf(output, 'tell its version'));
  const version = parseVersion(output.stdout.toString('utf8'));
  if (version === null)
    return refuse(
      'failed',
      'The program "git" does not report its version. Put a real git first on PATH.',
    );
  if (isNewEnough(version)) return ok(version);
  return refuse(
    'failed',
    `Git ${version} is too old: Drover needs ${oldest.join('.')} or newer. Install a newer git and put it first on PATH.`,
  );
}
