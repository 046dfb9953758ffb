// Work of an attempt that reached its target without the gate: an agent merged, pushed or moved the
// branch itself.

import { attemptsOfAgents } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { branchRef } from '../../core/work/ref-names.ts';
import type { Sha } from '../../git/sha.ts';

/**
 * Null: the commits that only the branch has are people's. Otherwise the sentence with the remedy.
 */
export async function whyUngated(
  engine: Uses<'git' | 'store'>,
  branch: string,
  landed: Sha,
  target: Sha,
): Promise<string | null> {
  if (await engine.git.isAncestor(target, landed)) return null;
  for (const attempt of await attemptsOfAgents(engine.store.db)) {
    const tip = (await engine.git.readRef(branchRef(attempt.branch))) ?? attempt.commit_sha;
    if (tip === null || tip === attempt.base_sha) continue;
    const shared = await engine.git.mergeBase(tip, target);
    if (shared === null || (await engine.git.isAncestor(shared, landed))) continue;
    if (await engine.git.isAncestor(shared, attempt.base_sha ?? shared)) continue;
    const id = attempt.task_id;
    return (
      `${branch} was moved to ${target.slice(0, 12)}, which holds work of ${id} that has not passed the gate; nothing lands on ` +
      `${branch} until a person decides: move ${branch} back to ${landed.slice(0, 12)} (git reset --keep where it is checked out, ` +
      `else git branch -f), or keep the work as yours with drover cancel ${id}`
    );
  }
  return null;
}
