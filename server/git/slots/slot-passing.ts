// A slot that passes from one task to the next when the work of the first is committed and nothing
// else was there: git switches it first, and one check afterwards finds what was written since. It
// saves one of two checks of every file.
//
// Git refuses to switch over files that were changed or added. What it does without a word is
// excluded here: it brings back a deleted file, and writes over one that is ignored.

import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { isIgnoreFile } from '../files/ignore-rules.ts';
import { unwatchedEntries } from '../files/index-flags.ts';
import { changesBetween } from '../files/loose-trees.ts';
import { absoluteBytes } from '../files/paths.ts';
import { exists, factsOf, readText } from '../files/small-files.ts';
import type { LinkedWorktree } from '../files/worktree-link.ts';
import { unfinishedOperation } from '../refs/worktree-heads.ts';
import type { Sha } from '../sha.ts';
import type { SlotRequest } from '../slot-port.ts';
import { takeCommitted } from '../work/committed-slots.ts';

/** Where more would change, the slot is checked first. */
const changesMax = 200;

/** True when the switch to the wanted commit can lose nothing that no commit holds. */
export async function maySwitchFirst(
  context: RepositoryContext,
  request: SlotRequest,
  worktree: LinkedWorktree,
): Promise<boolean> {
  const from = await takeCommitted(context, worktree);
  const { branch, keepBranch, dropIgnored, sparse, use, sha } = request;
  if (use !== 'task' || branch === null || keepBranch || dropIgnored || sparse !== null) {
    return false;
  }
  if (from === null || !context.ignores.isCleaned(worktree.path)) return false;
  return isPlain(context, worktree) && (await mayChange(context, worktree, from, sha));
}

/** Nothing in it makes git see less than there is, or do more than it is asked to. */
function isPlain({ idBytes }: RepositoryContext, { path, gitDir }: LinkedWorktree): boolean {
  const index = join(gitDir, 'index');
  const marks = [`${index}.lock`, join(path, '.gitmodules')];
  if (!exists(index) || marks.some(exists) || unfinishedOperation(gitDir) !== null) return false;
  if (/sparsecheckout\s*=\s*true/i.test(readText(join(gitDir, 'config.worktree')) ?? '')) {
    return false;
  }
  return unwatchedEntries(index, idBytes)?.length === 0;
}

/** What the switch changes is in its place, and what it adds has none yet; it changes no rules. */
async function mayChange(
  context: RepositoryContext,
  { path: root }: LinkedWorktree,
  from: Sha,
  to: Sha,
): Promise<boolean> {
  const [one, two] = [await context.objects.commit(from), await context.objects.commit(to)];
  if (one === null || two === null) return false;
  const objects = join(context.commonDir, 'objects');
  const changes = changesBetween(objects, one.tree, two.tree, changesMax);
  return (
    changes !== null &&
    changes.every(({ path, only }) => {
      const isThere = factsOf(absoluteBytes(root, path)) !== null;
      return !isIgnoreFile(path) && isThere === (only !== 'second');
    })
  );
}
