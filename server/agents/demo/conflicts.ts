// How the demo agent resolves a merge conflict: it keeps both sides, one after the other.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Removes the conflict markers from every unmerged file of the worktree. Returns their paths. */
export function resolveConflicts(cwd: string): string[] {
  let unmerged: string;
  try {
    unmerged = execFileSync('git', ['diff', '--name-only', '-z', '--diff-filter=U'], {
      cwd,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return []; // not a repository
  }
  const paths = unmerged.split('\0').filter((path) => path !== '' && existsSync(join(cwd, path)));
  for (const path of paths) {
    const file = join(cwd, path);
    writeFileSync(file, keepBothSides(readFileSync(file, 'utf8')));
    execFileSync('git', ['add', '--', path], { cwd, stdio: 'ignore' });
  }
  return paths;
}

/** Also handles the third part that diff3 style adds (the common ancestor), and removes it. */
export function keepBothSides(text: string): string {
  let isAncestor = false;
  return text
    .split('\n')
    .filter((line) => {
      if (/^\|{7}( |$)/.test(line)) isAncestor = true;
      if (/^={7}$/.test(line)) isAncestor = false;
      return !isAncestor && !/^(<{7}|>{7})( |$)/.test(line) && !/^={7}$/.test(line);
    })
    .join('\n');
}
