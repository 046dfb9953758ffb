// Finds the shared git folder of a checkout by reading files only, because a command needs it at
// each call.

import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { readText } from '../../files/small-files.ts';

/**
 * Real path of the git folder that all worktrees of a repository share. Null if `folder` is not the
 * top of a checkout.
 */
export function findCommonDir(folder: string): string | null {
  const entry = join(folder, '.git');
  try {
    const gitDir = statSync(entry).isDirectory() ? entry : gitDirNamedBy(entry);
    if (gitDir === null) return null;
    const shared = readText(join(gitDir, 'commondir'))?.trim() ?? '';
    if (shared === '' && !isGitFolder(gitDir)) return null;
    return realpathSync(isAbsolute(shared) ? shared : resolve(gitDir, shared));
  } catch {
    return null;
  }
}

function gitDirNamedBy(file: string): string | null {
  const content = readText(file);
  if (content === null || !content.startsWith('gitdir: ')) return null;
  const target = content.slice('gitdir: '.length).trim();
  return isAbsolute(target) ? target : resolve(dirname(file), target);
}

/** Checks the files that git itself looks for. `HEAD` may be a link in old repositories. */
function isGitFolder(folder: string): boolean {
  return readText(join(folder, 'HEAD')) !== null && statSync(join(folder, 'objects')).isDirectory();
}

/** The folder that contains `.git`, for a main checkout in git's default layout; null otherwise. */
export function checkoutBeside(commonDir: string): string | null {
  const folder = dirname(commonDir);
  return basename(commonDir) === '.git' && findCommonDir(folder) === commonDir ? folder : null;
}
