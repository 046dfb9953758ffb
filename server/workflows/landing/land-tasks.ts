// The landing queue of one line: merges the waiting work onto the tip, tests the merged tree, moves
// the landing ref by compare-and-swap. Deterministic; one workflow at a time per line. A red batch
// is halved until the bad task is alone.

import { failure, type Failure } from '../../core/failure.ts';
import type { RedBase } from '../../core/plan/block-cause.ts';
import type { DurableRun } from '../../durable/port.ts';
import type { GitResult } from '../../git/port.ts';
import {
  endLanding,
  landOnLine,
  type LandingRow,
  setAttempt,
  takeLandings,
  taskById,
  type Tx,
} from '../../store/port.ts';
import { gitFailed, handingOver, orElse, whileAway } from '../kit/git-trouble.ts';
import { asLander } from './lander.ts';
import { returnLanding, reviewLanding } from './landing-returns.ts';
import { type HeldWork, type LandingBatch, type Moved, nothingBuilt } from './landing-batch.ts';
import { buildBatch } from './build-batch.ts';
import { isLanding } from './landing-rows.ts';
import { followLine } from '../line/follow.ts';
import { isOnLine, moveLine } from '../line/move.ts';
import type { EngineOfRun } from '../kit/engine-of-run.ts';
import type { Engine } from '../kit/engine-ports.ts';
import { settleStopIn } from '../attempt/stops.ts';
import { readRedBase, waitForLine } from './red-base.ts';
import type { Sha } from '../../git/sha.ts';

export interface LandInput {
  readonly line: string;
  readonly runId: string;
}

/** Most tasks tested together. */
const batchMax = 32;
/** Maximum number of times one batch is rebuilt because the tip moved or a task left it. */
const rebuildsMax = 8;

export async function landTasks(
  engine: EngineOfRun,
  run: DurableRun<Tx>,
  input: LandInput,
): Promise<number> {
  // It was claimed just before this machine became unable to land.
  if (!engine.lands()) throw run.handOver();
  const batch = await run.commit('batch', (tx) =>
    takeLandings(tx, input.line, run.workflowId, batchMax),
  );
  if (batch.length === 0) return 0;
  return asLander(engine, run, input.line, async (own) => {
    const landing = new Landing(engine, run, input, own);
    // Work without a gate lands first: it must not suffer from a failed verdict on others.
    const ungated = batch.filter((row) => row.gate_command === null);
    const gated = batch.filter((row) => row.gate_command !== null);
    await landing.land(ungated, 'u', 0);
    await landing.land(gated, 'g', 0);
    return batch.length;
  });
}

class Landing {
  readonly #engine: Engine;
  readonly #run: DurableRun<Tx>;
  readonly #input: LandInput;
  readonly #own: () => Promise<GitResult<void>>;
  /** A red verdict from before is another attempt's: it serves the halving of this batch alone. */
  readonly #startMs: number;

  constructor(
    engine: Engine,
    run: DurableRun<Tx>,
    input: LandInput,
    own: () => Promise<GitResult<void>>,
  ) {
    this.#engine = engine;
    this.#run = run;
    this.#input = input;
    this.#own = own;
    this.#startMs = engine.clock.now();
  }

  async land(rows: readonly LandingRow[], path: string, rebuilds: number): Promise<void> {
    if (rows.length === 0) return;
    const attempts = rows.map((row) => this.#claimOf(row));
    const { present, batch } = await this.#engine.switchboard.untilStopped(
      attempts,
      async (stopped) => {
        const present = await this.#withoutStopped(rows, path);
        const signal = AbortSignal.any([this.#run.signal, stopped]);
        return { present, batch: await this.#verify(present, path, signal) };
      },
    );
    if (present.length === 0) return;
    if (batch.problem !== null) return this.#giveBack(present, path, batch.problem);
    for (const [index, conflict] of batch.conflicts.entries()) {
      await this.#returnConflict(conflict, `${path}.c${index}`);
    }
    for (const [index, { row, failure: reason }] of (batch.unmergeable ?? []).entries())
      await this.#giveBack([row], `${path}.m${index}`, reason);
    for (const [index, held] of (batch.held ?? []).entries())
      await this.#review(held, `${path}.h${index}`);
    const merged = batch.merged.map((item) => item.row);
    await this.#decide(batch, merged, path, rebuilds);
    await this.land(batch.deferred, `${path}d`, rebuilds);
  }

  #verify(rows: readonly LandingRow[], path: string, signal: AbortSignal): Promise<LandingBatch> {
    if (rows.length === 0) return Promise.resolve({ ...nothingBuilt, problem: null });
    return this.#run.step(`verified:${path}`, () =>
      whileAway(
        this.#engine,
        signal,
        () =>
          orElse<LandingBatch>(
            () => this.#build(rows, signal),
            (problem) => ({ ...nothingBuilt, problem }),
          ),
        (built) => built.problem,
        handingOver(this.#run),
      ),
    );
  }

  async #decide(
    batch: LandingBatch,
    rows: readonly LandingRow[],
    path: string,
    rebuilds: number,
  ): Promise<void> {
    if (rows.length === 0) return;
    const verdict = batch.verdict;
    switch (verdict.kind) {
      case 'aborted':
        if (rebuilds >= rebuildsMax)
          return this.#giveBack(
            rows,
            path,
            failure('interrupted', 'the landing was interrupted too often'),
          );
        return this.land(rows, `${path}w`, rebuilds + 1);
      case 'unusable':
        return this.#giveBack(rows, path, verdict.failure);
      case 'red_base':
        return this.#waitForLine(rows, path, verdict.failure, verdict.red);
      case 'red':
        if (rows.length === 1 && rows[0] !== undefined)
          return this.#returnRed(rows[0], path, verdict.failure);
        return this.#halve(rows, path, rebuilds);
      case 'green':
      case 'none':
        return this.#merge(batch, path, rebuilds);
    }
  }

  async #halve(rows: readonly LandingRow[], path: string, rebuilds: number): Promise<void> {
    const middle = Math.ceil(rows.length / 2);
    await this.land(rows.slice(0, middle), `${path}0`, rebuilds);
    await this.land(rows.slice(middle), `${path}1`, rebuilds);
  }

  /** Tasks that a person wants stopped, or that have another owner now, leave the batch. */
  async #withoutStopped(rows: readonly LandingRow[], path: string): Promise<readonly LandingRow[]> {
    const positions = await this.#run.commit(`present:${path}`, async (tx) => {
      const staying: number[] = [];
      for (const row of rows) {
        const task = await taskById(tx, row.task_id);
        const owned = isLanding(task, row);
        if (owned && task?.stop_requested === null) {
          staying.push(row.position);
          continue;
        }
        await endLanding(tx, { taskId: row.task_id, epoch: row.epoch }, 'withdrawn');
        if (owned) await settleStopIn(this.#engine, tx, this.#claimOf(row));
      }
      return staying;
    });
    return rows.filter((row) => positions.includes(row.position));
  }

  #claimOf(row: LandingRow): { taskId: string; epoch: number; attempt: number; runId: string } {
    return {
      taskId: row.task_id,
      epoch: row.epoch,
      attempt: row.attempt,
      runId: this.#input.runId,
    };
  }

  async #build(rows: readonly LandingRow[], stop: AbortSignal): Promise<LandingBatch> {
    const owned = await this.#own();
    if (!owned.ok) return { ...nothingBuilt, problem: gitFailed(owned.error) };
    const how = { line: this.#input.line, redSinceMs: this.#startMs };
    const batch = await buildBatch(this.#engine, rows, how, stop);
    if (batch.verdict.kind === 'aborted' && this.#run.signal.aborted) throw this.#run.signal.reason;
    return batch;
  }

  async #merge(batch: LandingBatch, path: string, rebuilds: number): Promise<void> {
    const last = batch.merged.at(-1);
    if (last === undefined) return;
    const moved = await this.#run.step(`merged:${path}`, () =>
      whileAway(
        this.#engine,
        this.#run.signal,
        () =>
          orElse<Moved>(
            () => this.#moveRef(batch, last.commit),
            (reason) => ({ kind: 'failed', reason }),
          ),
        (outcome) => (outcome.kind === 'failed' ? outcome.reason : null),
        handingOver(this.#run),
      ),
    );
    if (moved.kind === 'moved') {
      await this.#run.commit(`completed:${path}`, (tx) => this.#complete(tx, batch));
      await followLine(this.#engine, this.#input.line);
      return;
    }
    const rows = batch.merged.map((item) => item.row);
    if (rebuilds >= rebuildsMax || moved.kind === 'failed') {
      const reason =
        moved.kind === 'failed'
          ? moved.reason
          : failure('git_failed', 'the landing ref moves too often');
      await this.#giveBack(rows, path, reason);
      return;
    }
    await this.land(rows, `${path}s`, rebuilds + 1);
  }

  async #moveRef(batch: LandingBatch, next: Sha): Promise<Moved> {
    const { store } = this.#engine;
    const made = { tip: batch.tip, commit: next };
    if (await isOnLine(this.#engine, this.#input.line, made)) return { kind: 'moved' };
    for (const { row } of batch.merged) {
      const task = await taskById(store.db, row.task_id);
      if (!isLanding(task, row) || task?.stop_requested !== null) return { kind: 'again' };
    }
    const ids = batch.merged.map((item) => item.row.task_id).join(' ');
    const reason = `drover: land ${ids}`.slice(0, 200);
    const { tip: old, includes = null } = batch;
    const move = { next, old, reason, as: 'owner', includes } as const;
    const moved = await moveLine(this.#engine, this.#input.line, move);
    // A machine that is gone has merged it, or a person has pruned it: it is merged again.
    if (!moved.ok)
      return ['stale', 'unknown_ref'].includes(moved.error.kind)
        ? { kind: 'again' }
        : { kind: 'failed', reason: gitFailed(moved.error) };
    return { kind: 'moved' };
  }

  async #complete(tx: Tx, batch: LandingBatch): Promise<void> {
    const { store, clock } = this.#engine;
    const flaky = batch.verdict.kind === 'green' && batch.verdict.flaky;
    for (const item of batch.merged) {
      const { row } = item;
      await setAttempt(tx, row.task_id, row.attempt, {
        state: 'succeeded',
        ended_at_ms: clock.now(),
      });
      await endLanding(tx, { taskId: row.task_id, epoch: row.epoch }, 'landed');
      const done = await store.transition(tx, {
        taskId: row.task_id,
        epoch: row.epoch,
        to: 'completed',
        event: 'task.completed',
        runId: this.#input.runId,
        data: {
          attempt: row.attempt,
          sha: item.commit,
          branch: this.#input.line,
          batch: batch.merged.length,
          flaky,
        },
        set: {
          landed_sha: item.commit,
          landed_on: this.#input.line,
          verdict: 'pass',
          last_error: null,
          conflict_files: '[]',
        },
      });
      // The others of the batch have landed as well: their state must not depend on this one's.
      if (!done.ok) {
        const state = `${done.status ?? 'unknown'} (${done.reason})`;
        this.#engine.report(
          new Error(`landed ${row.task_id} but its state is ${state}`),
          'landing',
        );
      }
    }
    const last = batch.merged.at(-1);
    if (last !== undefined) await landOnLine(tx, this.#input.line, last.commit);
  }

  async #returnConflict(
    conflict: { row: LandingRow; files: readonly string[] },
    path: string,
  ): Promise<void> {
    const files = conflict.files.join(', ');
    const reason = failure(
      'conflict',
      `the work conflicts with what has landed meanwhile in ${files}`,
    );
    await this.#run.commit(`returned:${path}`, (tx) =>
      this.#fail(tx, conflict.row, reason, 'conflict', conflict.files),
    );
  }

  async #returnRed(row: LandingRow, path: string, reason: Failure): Promise<void> {
    await this.#run.commit(`returned:${path}`, (tx) => this.#fail(tx, row, reason, 'failed'));
  }

  async #review({ row, reason }: HeldWork, path: string): Promise<void> {
    await this.#run.commit(`returned:${path}`, (tx) =>
      reviewLanding(this.#engine, tx, this.#claimOf(row), reason),
    );
  }

  async #waitForLine(
    rows: readonly LandingRow[],
    path: string,
    reason: Failure,
    found: RedBase | undefined,
  ): Promise<void> {
    const red = found ?? (await readRedBase(this.#engine, this.#input.line));
    await this.#run.commit(`returned:${path}`, async (tx) => {
      for (const row of rows) await waitForLine(this.#engine, tx, this.#claimOf(row), reason, red);
    });
  }

  /**
   * A problem that the task did not cause (git, the gate's own setup): the attempt can be retried.
   */
  async #giveBack(rows: readonly LandingRow[], path: string, reason: Failure): Promise<void> {
    await this.#run.commit(`returned:${path}`, async (tx) => {
      for (const row of rows) await this.#fail(tx, row, reason, 'failed');
    });
  }

  #fail(
    tx: Tx,
    row: LandingRow,
    reason: Failure,
    atEnd: 'failed' | 'conflict',
    files?: readonly string[],
  ): Promise<void> {
    const claim = this.#claimOf(row);
    return returnLanding(this.#engine, tx, claim, { reason, atEnd, files: files ?? null });
  }
}
