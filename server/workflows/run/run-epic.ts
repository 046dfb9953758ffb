// The workflow of a run: starts ready tasks, waits for changes, and ends when nothing in scope can
// proceed. It keeps no state in memory. Each round starts from the rows, so resuming after a crash
// is an ordinary round.

import { landingRef, resultBranch } from '../../core/work/ref-names.ts';
import type { DurableRun } from '../../durable/port.ts';
import {
  activeRunsIn,
  endRun,
  epicById,
  landedElsewhere,
  runById,
  type RunRow,
  scopeOfRun,
  setResultBranch,
  stopActiveRun,
  type Tx,
  wholeRun,
} from '../../store/port.ts';
import { settleAll } from '../attempt/candidates.ts';
import { dispatch, isStillFull, nextWakeMs } from './dispatch.ts';
import { isPassingTrouble } from '../kit/git-trouble.ts';
import { awaitsBaseGate } from '../landing/base-gate.ts';
import { isOnTarget, startEpicLanding } from '../landing/land-epic.ts';
import { isPicked } from '../line/advice.ts';
import { followLine } from '../line/follow.ts';
import { returnOrphans } from './orphans.ts';
import { blockWaiting, releaseFromMissingBase, waitsForOtherRuns } from './line-waits.ts';
import { releaseFromRedBase } from '../landing/red-base.ts';
import { findCommitOnLine } from '../line/landed.ts';
import type { EngineOfRun } from '../kit/engine-of-run.ts';
import type { Engine, Uses } from '../kit/engine-ports.ts';
import { type ScopeState, scopeState } from '../kit/scope-state.ts';
import { sweepBranches } from './sweep.ts';
import { awaitedAgents, tasksWithoutAgent, type UnusableAgent } from './unusable-agents.ts';
import type { Sha } from '../../git/sha.ts';

export const runWorkflow = 'run';
export const runQueue = 'runs';

/**
 * Maximum time between checks. Changes by other processes are detected after this time at the
 * latest.
 */
const lookAgainMs = 1_000;
/** How often to search for tasks whose owner disappeared without a trace. */
const orphanLookMs = 5_000;
/** Shorter in a fleet, where a machine can die at any time. */
const fleetOrphanLookMs = 1_500;

export interface RunSummary {
  readonly run: string;
  readonly state: 'finished' | 'stopped';
  readonly completed: number;
  readonly failed: number;
  readonly left: number;
  readonly cancelled: number;
  readonly total: number;
  /** Exit code of the command: 0 = all done, 1 = a task failed, 2 = tasks are left. */
  readonly exit_code: number;
  /** Completed work of the scope that is only on a line other than the target and the run's own. */
  readonly elsewhere: readonly WorkOnLine[];
  readonly unusable_agents?: readonly UnusableAgent[];
}

export interface WorkOnLine {
  readonly branch: string;
  readonly tasks: readonly string[];
}

interface UnlandedWork {
  /** Whether the run's own epic has not landed yet. */
  readonly epicLeft: boolean;
  readonly elsewhere: readonly WorkOnLine[];
}

/** Maximum number of consecutive unexpected errors before a run ends. It pauses after each. */
const troublesMax = 10;
const troublePauseMs = 1_000;
/** After this long without an error, the count restarts. */
const troubleForgottenMs = 60_000;

/**
 * Ends the run after repeated errors, so that a bug in one round cannot leave it active forever
 * without progress.
 */
export async function runEpic(
  engine: EngineOfRun,
  run: DurableRun<Tx>,
  input: { runId: string },
): Promise<RunSummary | null> {
  let lastMs = engine.clock.now();
  for (let troubles = 1; ; troubles += 1) {
    try {
      return await goThrough(engine, run, input);
    } catch (error) {
      if (run.signal.aborted) throw error;
      engine.report(error, `run ${input.runId}`);
      const isNew = engine.clock.now() - lastMs > troubleForgottenMs;
      // An unreachable remote or database is temporary and not a bug of Drover.
      if (isNew || engine.isPassing(error) || isPassingTrouble(error)) troubles = 1;
      lastMs = engine.clock.now();
      if (troubles >= troublesMax) {
        await run.commit('broken', (tx) => stopBroken(engine, tx, input.runId, error));
        return null;
      }
      await run.sleepUntil(engine.clock.now() + troublePauseMs);
    }
  }
}

async function stopBroken(
  engine: Uses<'clock' | 'mask' | 'store'>,
  tx: Tx,
  id: string,
  error: unknown,
): Promise<void> {
  const words = error instanceof Error ? error.message : String(error);
  const stopped = await stopActiveRun(tx, id, engine.clock.now());
  if (stopped === null) return;
  const reason = engine.mask(words);
  await engine.store.append(tx, {
    type: 'run.stopped',
    runId: id,
    epicId: stopped.epic_id,
    data: { run: id, reason },
  });
  const state = await scopeState(tx, stopped);
  const left = { pending: 0, reason };
  const unlanded = { epicLeft: true, elsewhere: [] };
  await appendFinished(engine, tx, stopped, summaryOf(stopped, 'stopped', state, unlanded), left);
}

/**
 * Appends the last event of a run that a person stopped, after its agents have ended. Does nothing
 * if the run was already resumed.
 */
export async function finishStopped(
  engine: Uses<'git' | 'machineId' | 'report' | 'settings' | 'store'>,
  row: RunRow,
): Promise<void> {
  const followed = await followLine(engine, row.target_branch, 'now');
  const unlanded = await unlandedWork(engine, row);
  await engine.store.transaction(async (tx) => {
    const now = await runById(tx, row.id);
    if (now?.state !== 'stopped') return;
    const summary = summaryOf(row, 'stopped', await scopeState(tx, row), unlanded);
    await appendFinished(engine, tx, row, summary, followed);
  });
}

function summaryOf(
  row: RunRow,
  state: RunSummary['state'],
  scope: ScopeState,
  { epicLeft, elsewhere }: UnlandedWork,
): RunSummary {
  const { completed, failed, left, cancelled, total } = scope;
  const isLeft = left > 0 || (epicLeft && completed > 0) || elsewhere.length > 0;
  const exitCode = failed > 0 ? 1 : isLeft ? 2 : 0;
  return {
    run: row.id,
    state,
    completed,
    failed,
    left,
    cancelled,
    total,
    exit_code: exitCode,
    elsewhere,
  };
}

async function appendFinished(
  engine: Uses<'store'>,
  tx: Tx,
  row: RunRow,
  summary: RunSummary,
  followed: { readonly pending: number; readonly reason: string | null },
): Promise<void> {
  const result = followed.pending > 0 ? resultBranch(row.target_branch) : row.target_branch;
  await setResultBranch(tx, row.id, result);
  await engine.store.append(tx, {
    type: 'run.finished',
    epicId: row.epic_id,
    runId: row.id,
    data: {
      ...summary,
      result_branch: result,
      pending: followed.pending,
      reason: followed.reason,
    },
  });
}

async function goThrough(
  engine: Engine,
  run: DurableRun<Tx>,
  input: { runId: string },
): Promise<RunSummary | null> {
  const wakeUps = new WakeSignal(engine, run.signal);
  try {
    let nextOrphanLookMs = 0;
    let ends = 0;
    // When the last complete check left no worker free (Unix ms).
    let fullMs = Number.NEGATIVE_INFINITY;
    for (;;) {
      if (run.signal.aborted) throw run.signal.reason;
      if (!engine.compatibility.leads()) throw run.handOver();
      wakeUps.reset();
      const row = await runById(engine.store.db, input.runId);
      if (row === null || row.state !== 'active') return null;
      const lookMs = engine.clock.now();
      // Most events arrive while every worker is busy. A complete check for each of them would cost
      // more than it finds.
      const lookAtMs = Math.min(fullMs + lookAgainMs, nextOrphanLookMs);
      if (lookMs < lookAtMs && (await isStillFull(engine, row))) {
        await wakeUps.wait(lookAtMs - lookMs);
        continue;
      }
      const { started, full } = await dispatch(engine, row);
      fullMs = full || started > 0 ? lookMs : Number.NEGATIVE_INFINITY;
      if (started > 0) continue;
      if (full && engine.clock.now() < nextOrphanLookMs) {
        await wakeUps.wait(lookAgainMs);
        continue;
      }
      if (engine.clock.now() >= nextOrphanLookMs) {
        const everyMs = engine.machineId === '' ? orphanLookMs : fleetOrphanLookMs;
        nextOrphanLookMs = engine.clock.now() + everyMs;
        if ((await returnOrphans(engine)).length > 0) continue;
      }
      const without = await tasksWithoutAgent(engine, engine.store.db, row);
      const state = await scopeState(engine.store.db, row, without.tasks);
      // Work that ended since the last check may have made a choice possible, and no later event
      // will trigger it.
      if (state.moving === 0 && (await settleAll(engine)) > 0) continue;
      if (state.moving === 0 && (await releaseFromRedBase(engine)) > 0) continue;
      if (state.moving === 0 && (await releaseFromMissingBase(engine)) > 0) continue;
      const waits =
        state.moving === 0 &&
        ((await awaitsBaseGate(engine, row)) || (await waitsForOtherRuns(engine, row)));
      if (!waits && state.moving === 0 && (await blockWaiting(engine, row)) > 0) continue;
      if (!waits && state.moving === 0 && (await settled(engine, row, state))) {
        const summary = await finish(engine, run, row, ends);
        if (summary !== null) return summary;
        ends += 1;
        continue;
      }
      const wakeMs = await nextWakeMs(engine, row, lookMs);
      await wakeUps.wait(
        wakeMs === null
          ? lookAgainMs
          : Math.min(lookAgainMs, Math.max(1, wakeMs - engine.clock.now())),
      );
    }
  } finally {
    wakeUps.close();
  }
}

/**
 * Called when no task can proceed. A finished epic still has to land on its target, if that needs
 * no person.
 */
async function settled(
  engine: Uses<'durable' | 'git' | 'machineId' | 'store'>,
  row: RunRow,
  state: ScopeState,
): Promise<boolean> {
  if (row.epic_id === null || row.land === 'task') return true;
  // The epic lands as a whole, whichever of its tasks the run covers.
  const whole = wholeRun(row);
  const all = whole === row ? state : await scopeState(engine.store.db, whole);
  if (all.left > 0 || all.failed > 0 || all.completed === 0) return true;
  // Part of its work would be missing.
  if ((await workElsewhere(engine, whole, whole.line)).length > 0) return true;
  return startEpicLanding(engine, row);
}

/** Returns null if a person started something in the meantime, or if the run was stopped. */
async function finish(
  engine: Engine,
  run: DurableRun<Tx>,
  row: RunRow,
  ends: number,
): Promise<RunSummary | null> {
  const followed = await followLine(engine, row.target_branch, 'now');
  await sweepBranches(engine);
  const unlanded = await unlandedWork(engine, row);
  return run.commit(ends === 0 ? 'finished' : `finished:${ends}`, async (tx) => {
    // More tasks may have been added to the run since the last check.
    const now = await runById(tx, row.id);
    if (now?.state !== 'active') return null;
    const without = await tasksWithoutAgent(engine, tx, now);
    const state = await scopeState(tx, now, without.tasks);
    if (state.moving > 0) return null;
    const summary = summaryOf(row, 'finished', state, unlanded);
    await endRun(tx, row.id, { state: 'finished', atMs: engine.clock.now() });
    await appendFinished(engine, tx, row, { ...summary, ...awaitedAgents(without) }, followed);
    return summary;
  });
}

async function unlandedWork(engine: Uses<'git' | 'store'>, row: RunRow): Promise<UnlandedWork> {
  // All requested tasks of an epic may be done although the epic is not. Their work is then only on
  // its line.
  const isWhole = wholeRun(row) === row;
  return {
    epicLeft: isWhole && (await epicNotLanded(engine, row)),
    elsewhere: await workElsewhere(engine, row, isWhole ? row.line : row.target_branch),
  };
}

/** Tasks that moved between epics, or that an unfinished run of their epic did. */
async function workElsewhere(
  engine: Uses<'git' | 'store'>,
  row: RunRow,
  line: string,
): Promise<readonly WorkOnLine[]> {
  const { db } = engine.store;
  const scope = await scopeOfRun(db, row, await activeRunsIn(db));
  const landed = await landedElsewhere(db, scope, [line, row.target_branch]);
  const target = await engine.git.readRef(landingRef(row.target_branch));
  const own = await engine.git.readRef(landingRef(line));
  const tips = [...new Set([target, own])].filter((tip) => tip !== null);
  const found = new Map<string, string[]>();
  for (const { id, sha, branch } of landed) {
    let isThere = false;
    for (const tip of tips) isThere ||= (await findCommitOnLine(engine, sha, tip)) !== null;
    if (!isThere) found.set(branch, [...(found.get(branch) ?? []), id]);
  }
  if (target !== null) await dropPicked(engine, found, { branch: row.target_branch, tip: target });
  return [...found].map(([branch, tasks]) => ({ branch, tasks }));
}

/** Omits lines from which a person has cherry-picked everything. */
async function dropPicked(
  engine: Uses<'git' | 'store'>,
  found: Map<string, readonly string[]>,
  target: { readonly branch: string; readonly tip: Sha },
): Promise<void> {
  for (const branch of found.keys()) {
    const tip = await engine.git.readRef(landingRef(branch));
    if (tip !== null && (await isPicked(engine, { branch, tip }, target))) found.delete(branch);
  }
}

async function epicNotLanded(engine: Uses<'git' | 'store'>, row: RunRow): Promise<boolean> {
  if (row.epic_id === null || row.land === 'task') return false;
  // An epic without its own changes has nothing to land.
  const tip = await engine.git.readRef(landingRef(row.line));
  if (tip === null || (await isOnTarget(engine, row, tip))) return false;
  const epic = await epicById(engine.store.db, row.epic_id);
  return epic?.landing_state !== 'landed';
}

/** Wakes the loop on a relevant event. A signal between two waits is not lost. */
class WakeSignal {
  readonly #engine: Engine;
  readonly #offs: (() => void)[];
  #rung = false;
  #wake: (() => void) | null = null;

  constructor(engine: Engine, signal: AbortSignal) {
    this.#engine = engine;
    const wake = (): void => {
      this.#rung = true;
      this.#wake?.();
    };
    signal.addEventListener('abort', wake);
    this.#offs = [
      engine.store.feed.onAppend(wake),
      engine.switchboard.onWake(wake),
      () => signal.removeEventListener('abort', wake),
    ];
  }

  reset(): void {
    this.#rung = false;
  }

  async wait(ms: number): Promise<void> {
    if (this.#rung) return;
    await new Promise<void>((resolve) => {
      const off = this.#engine.clock.timer(ms, resolve);
      this.#wake = () => {
        off();
        resolve();
      };
    });
    this.#wake = null;
  }

  close(): void {
    for (const off of this.#offs) off();
  }
}
