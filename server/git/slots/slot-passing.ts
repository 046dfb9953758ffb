// A slot that passes from one task to the next, when nothing in it can be lost by the move: git
// moves it first, and one look afterwards finds whatever somebody has left. It saves one of the
// looks at every file of the worktree.
//
// Git itself refuses to move over files that were changed or added. What it does without a word is
// looked for here: it brings back a file that was deleted, and writes over one that is ignored.

import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { isIgnoreFile } from '../files/ignore-rules.ts';
import { unwatchedEntries } from '../files/index-flags.ts';
import { absoluteBytes, type PathBytes, splitZero } from '../files/paths.ts';
import { exists, readText } from '../files/small-files.ts';
import type { LinkedWorktree } from '../files/worktree-link.ts';
import { readRef } from '../refs/refs.ts';
import { readHead, unfinishedOperation } from '../refs/worktree-heads.ts';
import type { SlotRequest } from '../slot-port.ts';
import { creationMark } from './slot-marks.ts';

/** More than that is looked at faster by git. */
const pathsMax = 200;

/** True when the move to the wanted commit can lose nothing that no commit holds. */
export async function mayMoveFirst(
  context: RepositoryContext,
  request: SlotRequest,
  worktree: LinkedWorktree,
): Promise<boolean> {
  const { branch, keepBranch, dropIgnored, sparse, use } = request;
  if (use !== 'task' || branch === null || keepBranch || dropIgnored || sparse !== null) {
    return false;
  }
  if (!context.refsAreFiles || !isPlain(worktree)) return false;
  if (!context.ignores.isCleaned(worktree.path)) return false;
  const head = readHead(worktree.gitDir);
  const from = head.branch === null ? null : await readRef(context, head.branch);
  if (from === null) return false;
  if (from === request.sha) return true;
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--name-status', from, request.sha];
  const output = await context.git(args, { at: worktree.path });
  if (output.code !== 0) return false;
  const words = splitZero(output.stdout);
  if (words.length > 2 * pathsMax) return false;
  for (let at = 0; at + 1 < words.length; at += 2) {
    const path = words[at + 1] ?? '';
    if (isIgnoreFile(path) || stands(worktree, path) !== (words[at] === 'A' ? 'no' : 'yes')) {
      return false;
    }
  }
  return true;
}

/** Nothing in it makes git see less than there is, or do more than it is asked to. */
function isPlain({ path, gitDir }: LinkedWorktree): boolean {
  const index = join(gitDir, 'index');
  const marks = [join(gitDir, creationMark), `${index}.lock`, join(path, '.gitmodules')];
  if (!exists(index) || marks.some(exists) || unfinishedOperation(gitDir) !== null) return false;
  if (/sparsecheckout\s*=\s*true/i.test(readText(join(gitDir, 'config.worktree')) ?? '')) {
    return false;
  }
  return unwatchedEntries(index, 20)?.length === 0;
}

/** Also a file in the place of one of its folders is something that stands there. */
function stands({ path: root }: LinkedWorktree, path: PathBytes): 'yes' | 'no' | 'otherwise' {
  try {
    lstatSync(absoluteBytes(root, path));
    return 'yes';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'no' : 'otherwise';
  }
}
