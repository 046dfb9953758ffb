// Ends a merged level of a stack, and moves the other levels onto the latest base.

import type { PullCore } from '../core/forge/pull-facts.ts';
import { pullName } from '../core/forge/stack.ts';
import { landingRef } from '../core/work/ref-names.ts';
import {
  moveLandedWork,
  pullFact,
  type PullRow,
  setPull,
  storeFact,
} from '../store/forge/pull-requests.ts';
import { markEpicLanded, runById, stackLevels, type Tx } from '../store/port.ts';
import { regateOnNewBase, testOnBaseName } from '../workflows/landing/land-epic.ts';
import type { ForgeAccess } from './forge-access.ts';
import { bringHome, giveBackPull, namedDifference } from './pull-ends.ts';
import type { SendDeps } from './sent.ts';
import type { LevelPlace } from './stack-place.ts';
import { planDelete, planRetarget } from './stack-requests.ts';

type Engine = SendDeps['engine'];

/** The commit that this line has on the base after the forge's merge. */
export async function endLevel(
  engine: Engine,
  { remote }: ForgeAccess,
  { pull, core, place }: { pull: PullRow; core: PullCore; place: LevelPlace },
): Promise<void> {
  const commit = core.mergeCommit;
  const run = await runById(engine.store.db, pull.run_id);
  const fetched = await remote.fetch(core.baseBranch);
  if (!fetched.ok || commit === null || run === null) return;
  // The response may be newer than the fetched commits.
  if (!(await engine.git.isAncestor(commit, fetched.value))) return;
  const name = pullName(pull.number, place);
  const isHome = core.baseBranch === place.baseName;
  if (!isHome && place.below === null) {
    const why = `${name} was merged into ${core.baseBranch}, whose own pull request is over, so ${place.baseName} does not have it`;
    return giveBackPull(engine, pull, { kind: 'returned', why, isOver: true });
  }
  const merged = await namedDifference(engine, name, pull.tested_tree, commit);
  const words = isHome ? merged.words : `${name} was merged into ${core.baseBranch}`;
  if (isHome) await bringHome(engine, run.target_branch, fetched.value);
  const rest = place.levels.filter(
    ({ branch, state }) => branch !== pull.branch && (state === 'open' || state === 'opening'),
  );
  const nowMs = engine.clock.now();
  await engine.store.transaction(async (tx) => {
    await setPull(tx, pull, { state: 'merged', base: core.baseBranch, note: words });
    const value = JSON.stringify({ commit });
    if (isHome) await storeFact(tx, pull, 'landed', { value, missing: null, atMs: nowMs });
    // A branch that is the base of another pull request must not be deleted first.
    if (place.above !== null) await planRetarget(tx, place.above, core.baseBranch, nowMs);
    await planDelete(tx, pull, nowMs);
    const { line, target_branch: branch } = run;
    const end = { sha: commit, branch, pull_request: pull.number, as_tested: merged.isTested };
    const data = { ...end, reason: words };
    if (rest.length === 0) await landEpicOfStack(tx, pull, { line, branch, sha: commit });
    const type = rest.length === 0 ? 'epic.landed' : 'epic.pull_request_merged';
    await engine.store.append(tx, { type, epicId: pull.epic_id, runId: pull.run_id, data });
  });
  engine.switchboard.wake();
}

/**
 * If none of the line's own commits is on the base, the work counts as landed with the last level.
 */
async function landEpicOfStack(
  tx: Tx,
  { epic_id: epicId }: PullRow,
  { line, ...to }: { readonly line: string; readonly branch: string; readonly sha: string },
): Promise<void> {
  await moveLandedWork(tx, line, to);
  await markEpicLanded(tx, epicId, to.sha);
}

/**
 * Moves the open levels onto the latest base if a lower level was merged since they were pushed.
 * Returns true while that is in progress.
 */
export async function moveOntoBase(
  engine: Engine,
  { remote }: ForgeAccess,
  pull: PullRow,
  place: LevelPlace,
): Promise<boolean> {
  if (place.below !== null || (await holdsMergedLevels(engine, pull, place))) return false;
  const run = await runById(engine.store.db, pull.run_id);
  const tip = run === null ? null : await engine.git.readRef(landingRef(run.line));
  const base = await remote.tip(place.baseName);
  if (run === null || tip === null || !base.ok || base.value === null) return true;
  const at = { epicId: pull.epic_id, tip, base: base.value };
  const known = await engine.durable.get(testOnBaseName(run, at));
  if (known === null) await regateOnNewBase(engine, run, at);
  // If it ended with a conflict, the epic shows that.
  return known === null || known.state === 'pending' || known.state === 'running';
}

async function holdsMergedLevels(
  engine: Engine,
  pull: PullRow,
  { levels }: LevelPlace,
): Promise<boolean> {
  const { db } = engine.store;
  const { pulls } = await stackLevels(db, pull.epic_id);
  const tested = await pullFact<{ readonly base: string }>(db, pull, 'tested');
  for (const { branch, state } of levels.toReversed()) {
    const merged = state === 'merged' ? pulls.get(branch) : undefined;
    if (merged === undefined) continue;
    const landed = await pullFact<{ readonly commit: string }>(db, merged, 'landed');
    if (landed === null) continue;
    return tested !== null && (await engine.git.isAncestor(landed.commit, tested.base));
  }
  return true;
}
