// Handles a line whose tip fails the gate by itself. No task caused that, so tasks are blocked
// until the line moves or its gate is green.

import { branchRef, landingRef } from '../../core/work/ref-names.ts';
import { type RedBase, storedCause } from '../../core/plan/block-cause.ts';
import { failure, type Failure } from '../../core/failure.ts';
import {
  endLanding,
  readBaseGate,
  readLine,
  taskOrRefuse,
  tasksHeldBy,
  type Tx,
} from '../../store/port.ts';
import { blockTask } from '../attempt/attempt-ends.ts';
import { backToReview } from './landing-returns.ts';
import { syncLine } from '../line/line.ts';
import type { Uses, AttemptInRun } from '../kit/engine-ports.ts';
import { stoppedInstead } from '../attempt/stops.ts';

/** Describes the line as it is now, or as it was at `commit`. */
export async function readRedBase(
  engine: Uses<'clock' | 'git' | 'store'>,
  line: string,
  commit: string | null = null,
): Promise<RedBase> {
  const now = await readTips(engine, line);
  const tip = commit ?? now.tip;
  const on = await knownBranch(engine, line, tip);
  const atMs = engine.clock.now();
  return { kind: 'red_base', line, on, commit: tip, branch: now.branch, at_ms: atMs };
}

/** The start of the sentence that reports it. */
export function redBaseWords({ on, commit }: RedBase): string {
  return `The gate already fails on ${on} (${commit.slice(0, 7)}), without any task's work`;
}

async function readTips(
  engine: Uses<'git'>,
  line: string,
): Promise<{ readonly tip: string; readonly branch: string | null }> {
  const tip = (await engine.git.readRef(landingRef(line))) ?? '';
  const branch = (await engine.git.readRef(branchRef(line))) ?? tip;
  return { tip, branch: branch === tip ? null : branch };
}

/**
 * An epic's line without landings of its own fails for the same reason as its target, so the target
 * is named.
 */
async function knownBranch(
  engine: Uses<'git' | 'store'>,
  line: string,
  tip: string,
): Promise<string> {
  const parent = (await readLine(engine.store.db, line))?.parent_branch ?? null;
  if (parent === null || tip === '') return line;
  const target = await engine.git.readRef(landingRef(parent));
  return target !== null && (await engine.git.isAncestor(tip, target)) ? parent : line;
}

export function redBaseFailure(red: Failure): Failure {
  return failure('interrupted', red.message, red.detail);
}

/**
 * Makes a task wait for the line. Its attempt keeps the commit and is not used up; the work lands
 * when the line is fixed.
 */
export async function waitForLine(
  engine: Uses<'clock' | 'store'>,
  tx: Tx,
  claim: AttemptInRun,
  reason: Failure,
  red: RedBase,
): Promise<void> {
  await endLanding(tx, claim, 'returned');
  if (await stoppedInstead(engine, tx, claim)) return;
  const task = await taskOrRefuse(tx, claim.taskId);
  if (task.status === 'needs_review') return backToReview(engine, tx, claim, reason);
  const set = { last_error: reason.message, phase: null, blocked_by: storedCause(red) };
  await blockTask(engine, tx, claim, reason, set);
}

/**
 * Blocks a task before an agent has started on it. Returns false if the task is no longer ready.
 */
export async function blockBeforeStart(
  engine: Uses<'store'>,
  tx: Tx,
  task: { readonly taskId: string; readonly runId: string },
  reason: string,
  red: RedBase,
): Promise<boolean> {
  const outcome = await engine.store.transition(tx, {
    ...task,
    to: 'blocked',
    from: ['ready'],
    event: 'task.blocked',
    data: { reason, red_base: { line: red.line, commit: red.commit } },
    set: { blocked_reason: reason, last_error: reason, blocked_by: storedCause(red) },
  });
  return outcome.ok;
}

/**
 * Makes tasks ready again whose line has moved, or passed its gate, since they were blocked.
 * Resolves with their number.
 */
export async function releaseFromRedBase(
  engine: Uses<'git' | 'machineId' | 'store'>,
): Promise<number> {
  const waiting = await tasksHeldBy(engine.store.db, 'red_base');
  let released = 0;
  for (const { id, cause } of waiting) {
    const why = (await hasMoved(engine, cause))
      ? 'the line has moved'
      : (await isGreenSince(engine, cause))
        ? 'the gate of the line has passed'
        : null;
    if (why !== null)
      released += await engine.store.transaction((tx) => release(engine, tx, id, why));
  }
  return released;
}

/** Older versions stored this reason as text with abbreviated tips. */
function isTip(tip: string | null, noted: string | null): boolean {
  return tip === null || noted === null ? tip === noted : noted !== '' && tip.startsWith(noted);
}

async function hasMoved(
  engine: Uses<'git' | 'machineId' | 'store'>,
  { line, commit, branch }: RedBase,
): Promise<boolean> {
  // Users' commits count once the line includes them.
  const synced = await syncLine(engine, line);
  if (!synced.ok) return false;
  const now = await readTips(engine, line);
  return !isTip(now.tip, commit) || !isTip(now.branch, branch);
}

/**
 * Only a gate that ran after the task was blocked counts, so that a flaky gate does not release a
 * task again and again.
 */
async function isGreenSince(
  { store }: Uses<'store'>,
  { line, commit, branch, at_ms: atMs }: RedBase,
): Promise<boolean> {
  if (branch !== null) return false;
  const gate = await readBaseGate(store.db, line);
  return gate?.state === 'green' && isTip(gate.commit_sha, commit) && gate.since_ms > atMs;
}

async function release(
  engine: Uses<'store'>,
  tx: Tx,
  taskId: string,
  reason: string,
): Promise<number> {
  const outcome = await engine.store.transition(tx, {
    taskId,
    to: 'ready',
    from: ['blocked'],
    event: 'task.unblocked',
    data: { reason },
    set: { last_error: null },
  });
  return outcome.ok ? 1 : 0;
}
