// The parts of the user's checkout that must not change: files, index, stash, HEAD and other
// branches, as one record of hashes.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from './project.ts';

export interface CheckoutFacts {
  /** Hash by path of every file that git does not track. */
  readonly files: Readonly<Record<string, string>>;
  readonly staged: string;
  readonly unstaged: string;
  readonly stash: string;
  readonly stashed: string;
  readonly head: string;
  readonly refs: string;
}

function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Facts about the given files and everything else that belongs to the user; `target` may move. */
export function checkoutFacts(
  project: Project,
  paths: readonly string[],
  target = 'main',
): CheckoutFacts {
  const stash = project.git('stash', 'list', '--format=%H %gs');
  return {
    files: Object.fromEntries(
      paths.map((path) => [path, hashOf(readFileSync(join(project.root, path)))]),
    ),
    staged: hashOf(project.git('diff', '--cached', '--binary')),
    unstaged: hashOf(project.git('diff', '--binary')),
    stash,
    stashed: stash === '' ? '' : hashOf(project.git('stash', 'show', '-p', '--include-untracked')),
    head: project.git('symbolic-ref', 'HEAD'),
    refs: project
      .git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads', 'refs/tags')
      .split('\n')
      .filter((line) => !line.startsWith(`refs/heads/${target} `) && !line.includes('/drover/'))
      .join('\n'),
  };
}

/** Hash of every file below the checkout and of its index, byte for byte. */
export function everyByte(project: Project): Readonly<Record<string, string>> {
  const names = readdirSync(project.root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(project.root.length + 1))
    .filter((path) => !path.startsWith('.drover/') && !path.startsWith('.git/'));
  return Object.fromEntries(
    [...names, '.git/index'].map((path) => [path, hashOf(readFileSync(join(project.root, path)))]),
  );
}
