// The landing queue of one line: merges waiting work onto the tip, tests the merged tree and moves
// the landing ref by compare-and-swap. Deterministic; one workflow at a time per line.

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
  takeMoreLandings,
  taskById,
  type Tx,
} from '../../store/port.ts';
import {
  gitFailed,
  handOverOnTrouble,
  withGitFallback,
  retryWhileUnreachable,
} from '../kit/git-trouble.ts';
import { asLander } from './lander.ts';
import { returnLanding, reviewLanding } from './landing-returns.ts';
import { type LandingBatch, type Moved, nothingBuilt } from './landing-batch.ts';
import { EarlyGates } from './early-gates.ts';
import { isLanding } from './landing-rows.ts';
import { nextLanding } from './next-landing.ts';
import { reviewBatch } from './review-batch.ts';
import { followLine } from '../line/follow.ts';
import { isOnLine, moveLine } from '../line/move.ts';
import type { EngineOfRun } from '../kit/engine-of-run.ts';
import type { Engine } from '../kit/engine-ports.ts';
import { settleStopInTransaction } from '../attempt/stops.ts';
import { readRedBase, waitForLine } from './red-base.ts';
import type { Sha } from '../../git/sha.ts';

export interface LandInput {
  readonly line: string;
  readonly runId: string;
}

/** Maximum number of tasks tested together. */
const batchMax = 32;
/**
 * After this many tasks a new workflow takes over, so that one workflow does not grow without
 * bound.
 */
const tasksMax = 256;
/** Maximum number of times a batch is rebuilt because the tip moved or a task left it. */
const rebuildsMax = 8;

export async function landTasks(
  engine: EngineOfRun,
  run: DurableRun<Tx>,
  input: LandInput,
): Promise<number> {
  // The workflow was claimed just before this machine became unable to land.
  if (!engine.lands()) throw run.handOver();
  const batch = await run.commit('batch', (tx) =>
    takeLandings(tx, input.line, run.workflowId, batchMax),
  );
  if (batch.length === 0) return 0;
  return asLander(engine, run, input.line, async (own) => {
    const gates = new EarlyGates(engine, run.signal);
    const landing = new Landing(engine, run, input, own, gates);
    try {
      // Work without a gate lands first, so that it is not affected by a failed verdict on other
      // work.
      await landing.land(batch.filter((row) => row.gate_command === null));
      return await landing.land(batch.filter((row) => row.gate_command !== null));
    } finally {
      await gates.end();
    }
  });
}

class Landing {
  readonly #engine: Engine;
  readonly #run: DurableRun<Tx>;
  readonly #input: LandInput;
  readonly #own: () => Promise<GitResult<void>>;
  readonly #gates: EarlyGates;
  /** Older red verdicts belong to other attempts and are ignored. */
  readonly #startMs: number;
  #rounds = 0;
  #rebuilds = 0;
  #taken = 0;

  constructor(
    engine: Engine,
    run: DurableRun<Tx>,
    input: LandInput,
    own: () => Promise<GitResult<void>>,
    gates: EarlyGates,
  ) {
    this.#engine = engine;
    this.#run = run;
    this.#input = input;
    this.#own = own;
    this.#gates = gates;
    this.#startMs = engine.clock.now();
  }

  /** Resolves with the number of tasks, including those that joined during the landing. */
  async land(rows: readonly LandingRow[]): Promise<number> {
    let waiting = rows;
    this.#taken += rows.length;
    const isGated = rows.some((row) => row.gate_command !== null);
    while (waiting.length > 0) {
      this.#rounds += 1;
      const path = `r${this.#rounds}`;
      const takesMore = isGated && waiting.length < batchMax && this.#taken < tasksMax;
      const left = await this.#round(waiting, path, takesMore);
      const more = takesMore && left.length > 0 ? await this.#takeMore(left.length, path) : [];
      this.#taken += more.length;
      waiting = [...left, ...more];
    }
    return this.#taken;
  }

  #takeMore(present: number, path: string): Promise<readonly LandingRow[]> {
    const { line } = this.#input;
    const most = batchMax - present;
    return this.#run.commit(`more:${path}`, (tx) =>
      takeMoreLandings(tx, line, this.#run.workflowId, most),
    );
  }

  /** Resolves with the rows that still wait. */
  async #round(
    rows: readonly LandingRow[],
    path: string,
    takesMore: boolean,
  ): Promise<readonly LandingRow[]> {
    const attempts = rows.map((row) => this.#claimOf(row));
    const { present, batch } = await this.#engine.switchboard.untilStopped(
      attempts,
      async (stopped) => {
        const present = await this.#withoutStopped(rows, path);
        const signal = AbortSignal.any([this.#run.signal, stopped]);
        return { present, batch: await this.#verify(present, path, takesMore, signal) };
      },
    );
    if (present.length === 0) return [];
    if (batch.problem !== null) {
      await this.#return(present, path, batch.problem);
      return [];
    }
    const ended = new Set<number>();
    const end = (row: LandingRow): void => void ended.add(row.position);
    for (const [index, { row, files }] of batch.conflicts.entries()) {
      const message = `The work conflicts with landed work in ${files.join(', ')}.`;
      await this.#return([row], `${path}.c${index}`, failure('conflict', message), files);
      end(row);
    }
    for (const [index, { row, failure: reason }] of (batch.unmergeable ?? []).entries()) {
      await this.#return([row], `${path}.m${index}`, reason);
      end(row);
    }
    for (const [index, { row, reason, kind }] of (batch.held ?? []).entries()) {
      await this.#run.commit(`returned:${path}.h${index}`, (tx) =>
        reviewLanding(this.#engine, tx, this.#claimOf(row), reason, kind),
      );
      end(row);
    }
    if (await this.#decide(batch, path)) batch.merged.forEach(({ row }) => end(row));
    return present.filter((row) => !ended.has(row.position));
  }

  #verify(
    rows: readonly LandingRow[],
    path: string,
    takesMore: boolean,
    signal: AbortSignal,
  ): Promise<LandingBatch> {
    if (rows.length === 0) return Promise.resolve({ ...nothingBuilt, problem: null });
    return this.#run.step(`verified:${path}`, () =>
      retryWhileUnreachable(
        this.#engine,
        signal,
        () =>
          withGitFallback<LandingBatch>(
            () => this.#build(rows, takesMore, signal),
            (problem) => ({ ...nothingBuilt, problem }),
          ),
        (built) => built.problem,
        handOverOnTrouble(this.#run),
      ),
    );
  }

  /** Returns true if the verdict was carried out, false if the work still waits. */
  async #decide(batch: LandingBatch, path: string): Promise<boolean> {
    const rows = batch.merged.map((item) => item.row);
    const { verdict } = batch;
    switch (verdict.kind) {
      case 'more':
        return false;
      case 'aborted':
        this.#rebuilds += 1;
        return false;
      case 'red_base':
        await this.#waitForLine(rows, path, verdict.failure, verdict.red);
        break;
      case 'unusable':
      case 'red':
        await this.#return(rows, path, verdict.failure);
        break;
      case 'green':
      case 'none':
        if (rows.length > 0) return this.#merge(batch, path);
    }
    return true;
  }

  /** Drops tasks that a person wants stopped or that have a new owner. */
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
        if (owned) await settleStopInTransaction(this.#engine, tx, this.#claimOf(row));
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

  async #build(
    rows: readonly LandingRow[],
    takesMore: boolean,
    stop: AbortSignal,
  ): Promise<LandingBatch> {
    if (this.#rebuilds > rebuildsMax) {
      const reason = failure('interrupted', 'The landing was interrupted too often.');
      return { ...nothingBuilt, problem: reason };
    }
    const owned = await this.#own();
    if (!owned.ok) return { ...nothingBuilt, problem: gitFailed(owned.error) };
    const how = { line: this.#input.line, redSinceMs: this.#startMs, takesMore };
    const tested = await nextLanding(this.#engine, rows, how, this.#gates, stop);
    const batch = await reviewBatch(this.#engine, tested, this.#input.runId, stop);
    if (batch.verdict.kind === 'aborted' && this.#run.signal.aborted) throw this.#run.signal.reason;
    return batch;
  }

  async #merge(batch: LandingBatch, path: string): Promise<boolean> {
    const moved = await this.#run.step(`merged:${path}`, () =>
      retryWhileUnreachable(
        this.#engine,
        this.#run.signal,
        () =>
          withGitFallback<Moved>(
            () => this.#moveRef(batch),
            (reason) => ({ kind: 'failed', reason }),
          ),
        (outcome) => (outcome.kind === 'failed' ? outcome.reason : null),
        handOverOnTrouble(this.#run),
      ),
    );
    if (moved.kind === 'moved') {
      this.#rebuilds = 0;
      await this.#run.commit(`completed:${path}`, (tx) => this.#complete(tx, batch));
      await followLine(this.#engine, this.#input.line);
      return true;
    }
    this.#rebuilds += 1;
    if (moved.kind === 'again' && this.#rebuilds <= rebuildsMax) return false;
    const reason =
      moved.kind === 'failed'
        ? moved.reason
        : failure('git_failed', 'The landing ref moves too often.');
    const rows = batch.merged.map((item) => item.row);
    await this.#return(rows, path, reason);
    return true;
  }

  async #moveRef(batch: LandingBatch): Promise<Moved> {
    const { store } = this.#engine;
    const next = nextTip(batch);
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
    // The merge was made by a machine that is gone, or a user pruned it, so it is made again.
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
      // Other tasks of the batch have landed too, and their state must not depend on this one's.
      if (!done.ok) {
        const state = `${done.status ?? 'unknown'} (${done.reason})`;
        this.#engine.report(
          new Error(`landed ${row.task_id} but its state is ${state}`),
          'landing',
        );
      }
    }
    await landOnLine(tx, this.#input.line, nextTip(batch));
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

  /** Returns the rows so that their attempts can be retried. `files`: the conflicting files. */
  async #return(
    rows: readonly LandingRow[],
    path: string,
    reason: Failure,
    files: readonly string[] | null = null,
  ): Promise<void> {
    const returned = { reason, files, atEnd: files === null ? 'failed' : 'conflict' } as const;
    await this.#run.commit(`returned:${path}`, async (tx) => {
      for (const row of rows) await returnLanding(this.#engine, tx, this.#claimOf(row), returned);
    });
  }
}

/** Earlier releases landed the last merge. */
function nextTip({ next, merged }: LandingBatch): Sha {
  return next ?? merged.at(-1)?.commit ?? '';
}
