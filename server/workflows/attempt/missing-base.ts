// Tasks whose blocker has landed on another line only, and which nothing will bring: they are
// blocked, and released once the commit has arrived. `line-waits.ts` tells which
// tasks wait for it instead.

import { storedCause } from '../../core/plan/block-cause.ts';
import { MadeOnce } from '../../core/made-once.ts';
import { landingRef } from '../../core/work/ref-names.ts';
import {
  blockersOf,
  type Claim,
  partsOf,
  readLine,
  setAttempt,
  tasksHeldBy,
  type Tx,
  type Reads,
} from '../../store/port.ts';
import type { NoBase } from './chosen-base.ts';
import { findAgain } from '../lines/landed-again.ts';
import { syncLine } from '../lines/lines.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { baseLookMs, canStillCome, isOnLine } from './line-waits.ts';
import { stoppedInstead } from './stops.ts';
import type { Sha } from '../../git/sha.ts';

/** Tasks released in one check; the next check handles the rest. */
const looksMax = 200;

/**
 * The task has been claimed before its base was known to lack a commit. Where no other run brings
 * it, only a person can.
 */
export async function waitForBase(
  engine: Uses<'clock' | 'store'>,
  tx: Tx,
  claim: Claim,
  { reason, cause, landedOn, isReset = false }: Omit<NoBase, 'kind'>,
): Promise<void> {
  if (await stoppedInstead(engine, tx, claim)) return;
  await setAttempt(tx, claim.taskId, claim.attempt, { state: 'interrupted' });
  const fence = { taskId: claim.taskId, epoch: claim.epoch, runId: claim.runId };
  if (isReset) {
    // Blocked by its blocker as before it was claimed, unless that has landed again by now.
    await engine.store.transition(tx, {
      ...fence,
      to: 'ready',
      event: 'task.returned',
      data: { reason },
    });
    return;
  }
  if (landedOn !== null && (await canStillCome(tx, claim, landedOn))) {
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
    set: { blocked_reason: reason, last_error: reason, blocked_by: storedCause(cause) },
  });
}

/**
 * Tasks that were blocked because a commit was not in their line, and is now, are ready again.
 * Resolves with how many.
 */
export async function releaseFromMissingBase(
  engine: Uses<'git' | 'machineId' | 'store'>,
): Promise<number> {
  const { db } = engine.store;
  let released = 0;
  const held = await tasksHeldBy(db, 'missing_base');
  for (const { id, cause } of held.slice(0, looksMax)) {
    const { line } = cause;
    if (!(await hasArrived(engine, id, line))) continue;
    if (await isTriedAlready(engine, releasedAt, id, line)) continue;
    const outcome = await engine.store.transaction((tx) =>
      engine.store.transition(tx, {
        taskId: id,
        to: 'ready',
        from: ['blocked'],
        event: 'task.unblocked',
        data: { reason: 'the work of its blockers has arrived' },
        set: { last_error: null },
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

/**
 * Where each task's blockers were last looked for under other commits: that reads a whole history.
 */
const searchedAt = new MadeOnce<Reads, Map<string, string>>();

async function isTriedAlready(
  engine: Uses<'git' | 'store'>,
  tries: typeof releasedAt,
  taskId: string,
  line: string,
): Promise<boolean> {
  const known = tries.of(engine.store.db, () => new Map());
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
  // Commits that people have brought there count once the line has taken them in.
  await syncLine(engine, line);
  const missing = await missingOn(engine, taskId, line);
  if (missing.length === 0) return true;
  // People pick and rebase: then the work is there, under another commit.
  if (await isTriedAlready(engine, searchedAt, taskId, line)) return false;
  const isFound = await findAgain(engine, line, missing);
  return isFound && (await missingOn(engine, taskId, line)).length === 0;
}

type Missing = Awaited<ReturnType<typeof blockersOf>>[number] & { readonly sha: Sha };

/**
 * The landed blockers of a task that the line lacks; of its sub-tasks too, as at the choice of its
 * base.
 */
async function missingOn(
  engine: Uses<'git' | 'store'>,
  taskId: string,
  line: string,
): Promise<readonly Missing[]> {
  const { db } = engine.store;
  const blockers = await blockersOf(db, await partsOf(db, taskId));
  const missing: Missing[] = [];
  for (const row of blockers) {
    const sha = row.landed_sha;
    if (sha !== null && !(await isOnLine(engine, line, sha))) missing.push({ ...row, sha });
  }
  return missing;
}
