// Tasks whose blocker has landed on another line only. While a run is active that can bring the
// commit, they wait and are not claimed; where none is, they are blocked with a sentence, and
// released once the commit has arrived.

import { MadeOnce } from '../../core/made-once.ts';
import { landingRef } from '../../core/work/ref-names.ts';
import {
  activeRunsIn,
  blockersOf,
  type Claim,
  countBehindLines,
  delayStart,
  linesOnTheWay,
  readLine,
  type RunRow,
  scopeOfRun,
  setAttempt,
  startableBehindLines,
  tasksBlockedLike,
  type Tx,
  waitsForRuns,
  type WaitScope,
  type Reads,
} from '../../store/port.ts';
import { syncLine } from '../lines/lines.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { scopeState } from '../kit/scope-state.ts';
import { stoppedInstead } from './stops.ts';
import type { Sha } from '../../git/sha.ts';

/** Pause between two checks whether a blocker has arrived on the line. */
const baseLookMs = 5_000;

/** Tasks held or released in one check; the next check handles the rest. */
const looksMax = 200;

/** What `missingBaseSentence` writes. */
const missingBasePattern = /^the commit of its blocker \S+ is on \S+, not in (\S+);/;

const missingBaseLike = 'the commit of its blocker % is on %';

/**
 * The task has been claimed before its base was known to lack a commit. Where no other run brings
 * it, only a person can.
 */
export async function waitForBase(
  engine: Uses<'clock' | 'store'>,
  tx: Tx,
  claim: Claim,
  { reason, landedOn }: { readonly reason: string; readonly landedOn: string | null },
): Promise<void> {
  if (await stoppedInstead(engine, tx, claim)) return;
  await setAttempt(tx, claim.taskId, claim.attempt, { state: 'interrupted' });
  const fence = { taskId: claim.taskId, epoch: claim.epoch, runId: claim.runId };
  if ((await linesOnTheWay(tx, claim.runId)).has(landedOn ?? '')) {
    await engine.store.transition(tx, {
      ...fence,
      to: 'ready',
      event: 'task.returned',
      data: { reason },
      set: { phase: null, next_attempt_at_ms: engine.clock.now() + baseLookMs },
    });
    return;
  }
  await engine.store.transition(tx, {
    ...fence,
    to: 'blocked',
    event: 'task.blocked',
    data: { reason },
    set: { blocked_reason: reason, last_error: reason },
  });
}

/**
 * Before anything is claimed: tasks of the run whose blockers are still on the line of another
 * active run wait for it.
 */
export async function waitForOtherLines(
  engine: Uses<'clock' | 'git' | 'store'>,
  run: RunRow,
): Promise<void> {
  const { db } = engine.store;
  const lines = await linesOnTheWay(db, run.id);
  if (lines.size === 0) return;
  const nowMs = engine.clock.now();
  const rows = await startableBehindLines(db, await scopeOf(db, run), [...lines], {
    nowMs,
    limit: looksMax,
  });
  const missing = new Set<string>();
  for (const { id, sha } of rows) {
    if (!missing.has(id) && !(await isOnLine(engine, run.line, sha ?? ''))) missing.add(id);
  }
  if (missing.size === 0) return;
  await engine.store.transaction((tx) => delayStart(tx, [...missing], nowMs + baseLookMs));
}

/**
 * Whether the run has tasks that wait for unfinished tasks of another active run, while one of
 * those runs can make progress: two runs that only wait for each other both end.
 */
export async function waitsForOtherRuns(engine: Uses<'store'>, run: RunRow): Promise<boolean> {
  const { db } = engine.store;
  const active = await activeRunsIn(db);
  const others = active.filter(({ id }) => id !== run.id);
  const epics = others.flatMap(({ epic_id: epic }) => (epic === null ? [] : [epic]));
  const hasWider = epics.length < others.length;
  if (others.length === 0) return false;
  // What others have to themselves is no part of this run.
  const own = await scopeOfRun(db, run, active);
  if (!(await waitsForRuns(db, own, { epics, hasWider }))) return false;
  for (const other of others) {
    const { moving } = await scopeState(db, other);
    if (moving > (await waitingForLines(engine, other))) return true;
  }
  return false;
}

async function scopeOf(db: Reads, run: RunRow): Promise<WaitScope> {
  return { ...(await scopeOfRun(db, run, [])), line: run.line };
}

/**
 * Ready tasks of a run whose blockers are on other runs' lines: they can start only when those make
 * progress.
 */
async function waitingForLines(engine: Uses<'store'>, run: RunRow): Promise<number> {
  const { db } = engine.store;
  const lines = [...(await linesOnTheWay(db, run.id))];
  if (lines.length === 0) return 0;
  return countBehindLines(db, await scopeOf(db, run), lines);
}

/**
 * Whether a task of this line can start from the commit: a line merges its parent if a task needs
 * that.
 */
async function isOnLine(engine: Uses<'git' | 'store'>, line: string, sha: Sha): Promise<boolean> {
  const parent = (await readLine(engine.store.db, line))?.parent_branch ?? null;
  for (const branch of parent === null ? [line] : [line, parent]) {
    const tip = await engine.git.readRef(landingRef(branch));
    if (tip !== null && (tip === sha || (await engine.git.isAncestor(sha, tip)))) return true;
  }
  return false;
}

/**
 * Tasks that were blocked because a commit was not in their line, and is now, are ready again.
 * Resolves with how many.
 */
export async function releaseFromMissingBase(
  engine: Uses<'git' | 'machineId' | 'store'>,
): Promise<number> {
  const { db } = engine.store;
  const rows = await tasksBlockedLike(db, missingBaseLike, looksMax);
  let released = 0;
  for (const { id, blocked_reason: reason } of rows) {
    const line = missingBasePattern.exec(reason ?? '')?.[1];
    if (line === undefined || !(await hasArrived(engine, id, line))) continue;
    if (await isTriedAlready(engine, id, line)) continue;
    const outcome = await engine.store.transaction((tx) =>
      engine.store.transition(tx, {
        taskId: id,
        to: 'ready',
        from: ['blocked'],
        event: 'task.unblocked',
        data: { reason: 'the work of its blockers has arrived' },
        set: { blocked_reason: null, last_error: null },
      }),
    );
    if (outcome.ok) released += 1;
  }
  return released;
}

/**
 * Where each task was released last. A line and its parent may conflict: that is tried again once
 * one of them has moved.
 */
const releasedAt = new MadeOnce<Reads, Map<string, string>>();

async function isTriedAlready(
  engine: Uses<'git' | 'store'>,
  taskId: string,
  line: string,
): Promise<boolean> {
  const known = releasedAt.of(engine.store.db, () => new Map());
  const parent = (await readLine(engine.store.db, line))?.parent_branch ?? line;
  const tips = [line, parent].map((branch) => engine.git.readRef(landingRef(branch)));
  const place = (await Promise.all(tips)).join(' ');
  if (known.get(taskId) === place) return true;
  if (known.size >= looksMax) known.clear();
  known.set(taskId, place);
  return false;
}

async function hasArrived(
  engine: Uses<'git' | 'machineId' | 'store'>,
  taskId: string,
  line: string,
): Promise<boolean> {
  const blockers = await blockersOf(engine.store.db, [taskId]);
  const landed = blockers.flatMap((row) => (row.landed_sha === null ? [] : [row.landed_sha]));
  // Commits that people have brought there count once the line has taken them in.
  await syncLine(engine, line);
  for (const sha of landed) if (!(await isOnLine(engine, line, sha))) return false;
  return true;
}
