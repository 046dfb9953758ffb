// Removes branches of attempts whose work has landed after a run. All other branches stay.

import { branchRef } from '../../core/work/ref-names.ts';
import {
  type EndedAttempt,
  endedAttempts,
  endUpkeep,
  endUpkeepOfOthers,
  forgetBranches,
  holdForUpkeep,
  inParts,
} from '../../store/port.ts';
import { withGitFallback } from '../kit/git-trouble.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { nameKeptRefs } from '../attempt/kept-work.ts';
import type { Sha } from '../../git/sha.ts';

type Sweeping = Uses<'git' | 'launchedAtMs' | 'machineId' | 'report' | 'settings' | 'store'>;

/** Maximum number of branches checked in one sweep. The end of the next run handles the rest. */
const sweepMax = 5_000;

export async function sweepBranches(engine: Sweeping): Promise<void> {
  return withGitFallback(
    () => sweepNow(engine),
    (trouble) => engine.report(trouble, 'removing landed branches'),
  );
}

async function sweepNow(engine: Sweeping): Promise<void> {
  const listed = await engine.git.listWorktrees();
  if (!listed.ok) return engine.report(listed.error, 'listing worktrees');
  await engine.store.transaction((tx) =>
    endUpkeepOfOthers(tx, engine.machineId, upkeepName(engine)),
  );
  const held = Map.groupBy(listed.value, (entry) => branchRef(entry.branch ?? ''));
  const changes: { ref: string; next: null; old: string }[] = [];
  const gone: string[] = [];
  for (const row of await endedAttempts(engine.store.db, sweepMax)) {
    const ref = branchRef(row.branch);
    const present = await engine.git.readRef(ref);
    if (present === null) {
      if (row.named === row.branch) gone.push(row.branch);
      continue;
    }
    // The work has landed, or the attempt made no commit, so nothing becomes unreachable.
    const expected = row.state === 'succeeded' ? (row.commit_sha ?? row.base_sha) : row.base_sha;
    if (present !== expected) {
      if (row.state === 'failed' && row.named !== row.branch) await nameRef(engine, ref, row);
      continue;
    }
    // If a user also checked out the branch, it stays.
    const [owner, ...others] = held.get(ref) ?? [];
    if (others.length > 0) continue;
    if (owner !== undefined && !(await detach(engine, owner.path, present, row))) continue;
    if (!(await isKept(engine, present, row))) continue;
    changes.push({ ref, next: null, old: present });
    gone.push(row.branch);
  }
  if (changes.length > 0) {
    const done = await engine.git.updateRefs(changes, 'drover: landed');
    if (!done.ok) return engine.report(done.error, 'removing landed branches');
  }
  await forgetGone(engine, gone);
}

/** If users rewrote the line, work landed without its history. A snapshot keeps that history. */
async function isKept(
  engine: Uses<'git' | 'report'>,
  present: Sha,
  row: EndedAttempt,
): Promise<boolean> {
  if (row.landed_sha === null || present === row.base_sha) return true;
  if (await engine.git.isAncestor(present, row.landed_sha)) return true;
  const kept = await engine.git.keepCommit(present, row.branch.slice('drover/'.length));
  if (!kept.ok) engine.report(kept.error, `keeping the history of ${row.branch}`);
  return kept.ok;
}

/** Removes deleted branches from their tasks. */
async function forgetGone(engine: Uses<'store'>, branches: readonly string[]): Promise<void> {
  for (const part of inParts(branches)) {
    await engine.store.transaction(async (tx) => {
      const tasks = await forgetBranches(tx, part);
      if (tasks.length === 0) return;
      await engine.store.append(tx, { type: 'branches.removed', data: { tasks } });
    });
  }
}

async function nameRef(
  engine: Uses<'store'>,
  ref: string,
  { task_id: id }: EndedAttempt,
): Promise<void> {
  await engine.store.transaction((tx) => nameKeptRefs(tx, engine.store, [ref], id));
}

/** Includes the process, because leases of an earlier one are stale. */
function upkeepName(engine: Uses<'launchedAtMs'>): string {
  return `sweep/${engine.launchedAtMs}`;
}

/** Detaches free slots from their branch. A leased slot keeps its branch. */
async function detach(
  engine: Uses<'git' | 'launchedAtMs' | 'machineId' | 'settings' | 'store'>,
  path: string,
  sha: string,
  row: EndedAttempt,
): Promise<boolean> {
  const slot = { machine: engine.machineId, path, holder: null };
  if (!(await engine.store.transaction((tx) => holdForUpkeep(tx, slot, upkeepName(engine)))))
    return false;
  try {
    const prepared = await engine.git.prepareSlot({
      path,
      branch: null,
      sha,
      keepBranch: false,
      dropIgnored: false,
      sparse: engine.settings().sparse,
      use: 'task',
    });
    if (!prepared.ok) return false;
    const { keptRef } = prepared.value;
    if (keptRef !== null) await nameRef(engine, keptRef, row);
    return true;
  } finally {
    await engine.store.transaction((tx) => endUpkeep(tx, slot));
  }
}
