// After a run: branches of attempts whose work has landed go; everything else stays where it can be found.

import { endUpkeep, holdForUpkeep } from '../store/port.ts';
import { branchRef } from './lines.ts';
import type { Engine } from './parts.ts';

/** Branches looked at in one sweep; the next run's end takes the rest. */
const sweepMax = 5_000;

export async function sweepBranches(engine: Engine): Promise<void> {
  const rows = await engine.store.db
    .selectFrom('attempts as a')
    .innerJoin('tasks as t', 't.id', 'a.task_id')
    .select(['a.branch', 'a.commit_sha', 'a.base_sha', 'a.state', 't.landed_sha'])
    .where((eb) =>
      eb.or([
        eb.and([eb('a.state', '=', 'succeeded'), eb('t.landed_sha', 'is not', null)]),
        eb('a.state', '=', 'failed'),
      ]),
    )
    .orderBy('a.ended_at_ms', 'desc')
    .limit(sweepMax)
    .execute();
  const listed = await engine.git.listWorktrees();
  if (!listed.ok) return engine.report(listed.error, 'listing worktrees');
  const held = new Map(listed.value.map((entry) => [entry.branch, entry]));
  const changes: { ref: string; next: null; old: string }[] = [];
  for (const row of rows) {
    const ref = branchRef(row.branch);
    const present = await engine.git.readRef(ref);
    // Landed work, or an attempt that left no commit at all: nothing becomes unreachable.
    const expected = row.state === 'succeeded' ? row.commit_sha : row.base_sha;
    if (present === null || present !== expected) continue;
    const owner = held.get(ref) ?? held.get(row.branch);
    if (owner !== undefined && !(await detach(engine, owner.path, present))) continue;
    changes.push({ ref, next: null, old: present });
  }
  if (changes.length === 0) return;
  const done = await engine.git.updateRefs(changes, 'drover: landed');
  if (!done.ok) engine.report(done.error, 'removing landed branches');
}

/** Only free slots are taken off their branch; a slot that somebody holds keeps it. */
async function detach(engine: Engine, path: string, sha: string): Promise<boolean> {
  const slot = { path, holder: null };
  if (!(await engine.store.transaction((tx) => holdForUpkeep(tx, slot, 'sweep')))) return false;
  try {
    const prepared = await engine.git.prepareSlot({
      path,
      branch: null,
      sha,
      keepBranch: false,
      dropIgnored: false,
      sparse: engine.settings().sparse,
    });
    return prepared.ok;
  } finally {
    await engine.store.transaction((tx) => endUpkeep(tx, slot));
  }
}
