// Refs of deleted branches must not block a branch whose name is below or above theirs: git cannot
// have both.

import { Refusal } from '../../core/failure.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { branchRef, landingRef, resultBranch } from '../../core/work/ref-names.ts';
import { allLines, readLine, type Tx, writeLine } from '../../store/port.ts';
import { keepTip } from '../lines/line-holds.ts';

/** Keeps the content of such a line under `refs/drover/rescue/lines/`, and deletes its refs. */
export async function clearStaleLines(
  engine: Uses<'git' | 'store'>,
  branch: string,
): Promise<void> {
  const rows = await allLines(engine.store.db);
  const inTheWay = rows.filter(
    (row) => row.branch.startsWith(`${branch}/`) || branch.startsWith(`${row.branch}/`),
  );
  for (const { branch: stale } of inTheWay) {
    if ((await engine.git.readRef(branchRef(stale))) !== null) continue;
    const landed = await engine.git.readRef(landingRef(stale));
    if (landed !== null) {
      const kept = await keepTip(engine, stale, landed, 'drover: branch is gone');
      if (!kept.ok) throw new Refusal(kept.error.kind, kept.error.message);
      const change = { ref: landingRef(stale), next: null, old: landed };
      const gone = await engine.git.updateRefs([change], 'drover: branch is gone');
      if (!gone.ok) throw new Refusal(gone.error.kind, gone.error.message);
      await engine.store.transaction((tx) => forgetWaiting(tx, stale));
    }
    const result = resultBranch(stale);
    const present = await engine.git.readRef(branchRef(result));
    if (present === null) continue;
    const moved = await engine.git.moveBranch(result, null, present);
    if (!moved.ok) throw new Refusal(moved.error.kind, moved.error.message);
  }
}

/** What waited there is kept elsewhere now: a branch of the same name starts without it. */
async function forgetWaiting(tx: Tx, branch: string): Promise<void> {
  const known = await readLine(tx, branch);
  if (known === null) return;
  const { landed_sha, pending_reason, parent_branch } = known;
  const followed = { branch, landed_sha, followed_sha: landed_sha, pending: 0 };
  await writeLine(tx, { ...followed, pending_reason, parent_branch });
}

/** Every branch of Drover is below `drover/`. */
export async function refuseBranchInTheWay(engine: Uses<'git'>): Promise<void> {
  if ((await engine.git.readRef(branchRef('drover'))) === null) return;
  throw new Refusal(
    'branch_in_the_way',
    'The branch drover conflicts with the branches drover/… that Drover creates. Rename it with "git branch -m drover <new name>" and run again.',
  );
}
