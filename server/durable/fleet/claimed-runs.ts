// The workflows that this process has claimed, from the claim until their end is recorded.

import { errorText, toJson } from '../json.ts';
import type { Clock, WorkflowBody } from '../port.ts';
import { WorkflowRun, type StopCause } from '../run.ts';
import type { ClaimedWorkflow } from './claim.ts';
import * as dbos from './dbos.ts';
import { FencedSteps } from './fenced-steps.ts';
import * as statements from './statements.ts';
import type { Db, Fence } from './statements.ts';
import { type ClaimRow, readClaims } from './survey.ts';
import { isDatabaseTrouble } from './trouble.ts';

interface Running<Tx> {
  readonly run: WorkflowRun<Tx>;
  readonly fence: Fence;
  readonly queue: string;
  /** The stored results of the body's steps. */
  readonly memos: Map<string, string | null>;
  /** Whether DBOS has called the body, and whether that has returned. */
  body: 'not begun' | 'runs' | 'returned';
  /** Resolved when the end is recorded, or will not be recorded. */
  readonly abandoned: PromiseWithResolvers<void>;
  readonly ended: PromiseWithResolvers<void>;
}

export interface ClaimedRunsOptions<Tx> {
  readonly db: Db;
  readonly bodiesDb: Db;
  readonly clock: Clock;
  readonly executorId: string;
  readonly takeOverAfterMs: number;
  readonly bodies: ReadonlyMap<string, WorkflowBody<Tx, unknown, unknown>>;
  readonly crashPoint?: ((workflowId: string, stepName: string) => void) | undefined;
  readonly onTrouble: (error: unknown) => void;
  readonly onEnded: (id: string) => void;
  /** Called after a release that this process may claim itself. */
  readonly onRoom: () => void;
}

export class ClaimedRuns<Tx> {
  readonly #options: ClaimedRunsOptions<Tx>;
  /** By workflow id. A run that lost its claim stays until its body has returned. */
  readonly #running = new Map<string, Running<Tx>>();
  /** Abandoned here but not yet released in the database, which was unreachable. */
  readonly #toGiveUp = new Map<string, Fence>();
  /** Ends DBOS's own waiting for an unreachable database. */
  readonly #closing = new AbortController();

  constructor(options: ClaimedRunsOptions<Tx>) {
    this.#options = options;
  }

  get ids(): readonly string[] {
    return [...this.#running.keys()];
  }

  has(id: string): boolean {
    return this.#running.has(id);
  }

  countByQueue(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { queue } of this.#running.values()) {
      counts.set(queue, (counts.get(queue) ?? 0) + 1);
    }
    return counts;
  }

  async begin(claimed: readonly ClaimedWorkflow[], token: string): Promise<void> {
    if (claimed.length === 0) return;
    const entered = claimed.map((work) => this.#enter(work, token));
    const ids = claimed.map(({ id }) => id);
    let recorded: ReadonlyMap<string, Promise<unknown>> = new Map();
    try {
      const ready = this.#recall(entered);
      ready.catch(() => undefined); // `runClaimed` throws it.
      recorded = await dbos.runClaimed(ids, token, this.#closing.signal, ready);
    } finally {
      for (const running of entered) void this.#follow(running, recorded.get(running.fence.id));
    }
  }

  /**
   * Loads the stored results of each run's workflow. Called after the claim has committed, so that
   * they include everything that the last owner stored before it released the workflow.
   */
  async #recall(entered: readonly Running<Tx>[]): Promise<void> {
    const ids = entered.map(({ fence }) => fence.id);
    const memos = await statements.readMemos(this.#options.db, ids);
    for (const { fence, memos: own } of entered) {
      for (const [name, output] of memos.get(fence.id) ?? []) own.set(name, output);
    }
  }

  /** Aborts a run of ours whose row is marked. Resolves when its body has returned. */
  async cancel(fence: Fence): Promise<void> {
    const running = this.#running.get(fence.id);
    running?.run.stop('cancelled');
    // If no body ran, DBOS was about to record an end, which the mark prevented.
    if (running?.body !== 'runs') {
      await statements.giveUp(this.#options.db, fence);
      running?.abandoned.resolve();
    }
    await running?.ended.promise;
  }

  /**
   * Others may have taken the work over: suspends the processes that can be suspended, and stops
   * the rest.
   */
  standStill(): void {
    for (const { run } of this.#running.values()) run.standStill();
  }

  stopAll(cause: StopCause): void {
    for (const { run } of this.#running.values()) run.stop(cause);
  }

  close(): void {
    this.#closing.abort();
    this.stopAll('closing');
  }

  /**
   * Waits for bodies without limit, but for the record of their end only as long as no other
   * process may take over.
   */
  async allEnded(checkEveryMs: number): Promise<void> {
    const { clock, db, executorId, onTrouble, takeOverAfterMs } = this.#options;
    const recordedBy = clock.now() + takeOverAfterMs;
    while (this.#running.size > 0) {
      const running = [...this.#running.values()];
      const pause = Promise.withResolvers<void>();
      const callOff = clock.timer(checkEveryMs, pause.resolve);
      await Promise.race([Promise.all(running.map(({ ended }) => ended.promise)), pause.promise]);
      callOff();
      await this.check(readClaims(db, executorId)).catch(onTrouble);
      if (clock.now() < recordedBy) continue;
      for (const { body, abandoned } of running) if (body === 'returned') abandoned.resolve();
    }
  }

  #enter({ id, queue }: ClaimedWorkflow, token: string): Running<Tx> {
    const { db, bodiesDb, clock, crashPoint } = this.#options;
    const fence = { id, token };
    const store = new FencedSteps<Tx>(db, bodiesDb, fence);
    const memos = new Map<string, string | null>();
    const run = new WorkflowRun<Tx>({ clock, crashPoint }, id, store, memos);
    if (this.#closing.signal.aborted) run.stop('closing');
    const abandoned = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const body = 'not begun';
    const running: Running<Tx> = { run, fence, queue, memos, body, abandoned, ended };
    this.#running.set(id, running);
    return running;
  }

  /** Waits until the end is recorded or the claim released. Never rejects. */
  async #follow(running: Running<Tx>, recorded: Promise<unknown> | undefined): Promise<void> {
    const recordedOrNot = recorded?.catch(() => undefined);
    await Promise.race([recordedOrNot, running.abandoned.promise]);
    if (running.body === 'not begun') await this.#giveUp(running.fence);
    this.#running.delete(running.fence.id);
    running.ended.resolve();
    this.#options.onEnded(running.fence.id);
  }

  /** Called by DBOS. Always throws: the end was already recorded, and DBOS reads it. */
  async execute(name: string, fence: Fence, input: unknown): Promise<never> {
    const running = this.#running.get(fence.id);
    if (running?.fence.token !== fence.token) {
      // The claim was released before DBOS called the body. The workflow is claimed again.
      await statements.giveUp(this.#options.db, fence);
      this.#options.onRoom();
      throw dbos.notOursToEnd(fence.id);
    }
    running.body = 'runs';
    try {
      await this.#end(running, await this.#outcomeOf(running, name, input));
    } finally {
      running.body = 'returned';
      running.abandoned.resolve();
    }
    throw dbos.notOursToEnd(fence.id);
  }

  async #outcomeOf(
    { run }: Running<Tx>,
    name: string,
    input: unknown,
  ): Promise<statements.Outcome | null> {
    const body = this.#options.bodies.get(name);
    if (run.cause !== null) return null;
    try {
      if (body === undefined) throw new Error(`workflow ${name} is not registered`);
      return { status: 'SUCCESS', output: toJson(await body(run, input)) ?? 'null' };
    } catch (error) {
      if (isDatabaseTrouble(error)) run.stop('storage');
      if (stopped(run)) return null;
      return { status: 'ERROR', error: errorText(error) };
    }
  }

  /**
   * Records the end under the token, as DBOS would. Done here because DBOS treats some database
   * problems as failures of the workflow. Never rejects.
   */
  async #end({ run, fence }: Running<Tx>, outcome: statements.Outcome | null): Promise<void> {
    if (run.cause === 'lost') return;
    if (run.cause === 'storage') {
      this.#toGiveUp.set(fence.token + fence.id, fence);
    } else if (outcome === null) {
      await this.#giveUp(fence);
    } else {
      try {
        await statements.finish(this.#options.db, fence, outcome);
      } catch (error) {
        // It starts again and finishes from its stored results.
        this.#toGiveUp.set(fence.token + fence.id, fence);
        this.#options.onTrouble(error);
      }
    }
  }

  /**
   * Never rejects: a claim that could not be released is released by the next check, or taken over
   * when our heartbeat expires.
   */
  async #giveUp(fence: Fence): Promise<void> {
    try {
      await statements.giveUp(this.#options.db, fence);
    } catch (error) {
      this.#toGiveUp.set(fence.token + fence.id, fence);
      this.#options.onTrouble(error);
    }
  }

  /**
   * Stops workflows that another process took over or canceled, resumes suspended ones that are
   * ours, and releases rows that are marked as ours but do not run. Returns their number. `read`:
   * all claims of this process in the database, from a read that starts now.
   */
  async check(read: Promise<readonly ClaimRow[]>): Promise<number> {
    const { db, executorId } = this.#options;
    // Captured when the read starts, so that a later claim does not count as missing.
    const running = [...this.#running.values()];
    const claims = await read;
    const ids = running.map(({ fence }) => fence.id);
    const heldById = new Map(claims.map((row) => [row.id, row]));
    for (const { run, fence, body, abandoned } of running) {
      const row = heldById.get(fence.id);
      if (row?.token === fence.token) {
        if (row.cancelled) run.stop('cancelled');
        else run.goOn();
      } else if (body === 'returned') {
        abandoned.resolve(); // Its end is recorded, or was refused and never will be.
      } else {
        run.stop('lost');
      }
    }
    let givenUp = 0;
    for (const [key, fence] of this.#toGiveUp) {
      if (await statements.giveUp(db, fence)) givenUp += 1;
      this.#toGiveUp.delete(key);
    }
    const withBody = running.filter(({ body }) => body !== 'returned').map(({ fence }) => fence.id);
    const isStray = ({ id, cancelled }: ClaimRow): boolean =>
      !(cancelled ? withBody : ids).includes(id);
    if (!claims.some(isStray)) return givenUp;
    return givenUp + (await statements.giveUpStray(db, executorId, ids, withBody));
  }
}

function stopped<Tx>(run: WorkflowRun<Tx>): boolean {
  return run.cause !== null;
}
