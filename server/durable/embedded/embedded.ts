// The embedded adapter of the durable port: workflows, steps and leases in the store's SQLite file.
//
// It finds work at once when this process starts, is notified or ends a workflow, and within a
// second when another process added it. One slow tick does everything that depends on time: it
// renews leases, reads cancel requests, takes over workflows of dead processes, and checks for the
// ends that callers wait for.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Kysely, Transaction } from 'kysely';
import { DurableAdapter } from '../adapter.ts';
import { errorText, fromJson, toJson } from '../json.ts';
import type { Clock, Durable, WorkflowInfo } from '../port.ts';
import { WorkflowRun, type RunContext, type StopCause } from '../run.ts';
import { ClaimSteps } from '../step-store.ts';
import { isEnded } from '../waiters.ts';
import { type NewWorkflow, toInfo } from '../workflow-rows.ts';
import { claimWork } from './claim.ts';
import * as statements from './statements.ts';
import type { ClaimedRow, Db, Fence, Outcome } from './statements.ts';
import type { DurableTables } from './tables.ts';
import { isDatabaseTrouble } from './trouble.ts';

export interface EmbeddedOptions<Tables extends DurableTables> {
  readonly db: Kysely<Tables>;
  readonly clock: Clock;
  /**
   * Identifies this process in the rows that it owns; `processIdentity()` outside of tests. Never
   * reused.
   */
  readonly processId: string;
  /**
   * Returns false only if that process has certainly ended; `isProcessAlive` of process-identity.ts
   * outside of tests.
   */
  readonly isProcessAlive: (processId: string) => boolean;
  readonly leaseMs: number;
  /**
   * For crash tests: called when a step or commit has been stored, before its result is returned.
   */
  readonly crashPoint?: (workflowId: string, stepName: string) => void;
  /** Called with database errors outside of a caller's request. The adapter retries by itself. */
  readonly onTrouble?: (error: unknown) => void;
}

export interface EmbeddedDurable<Tx> extends Durable<Tx> {
  /**
   * Deletes the steps of workflows that succeeded longer ago than this, in small batches. Resolves
   * with their number.
   */
  forget(olderThanMs: number): Promise<number>;
}

interface Running<Tx> {
  readonly run: WorkflowRun<Tx>;
  readonly fence: Fence;
  readonly queue: string;
  readonly done: Promise<void>;
}

const forgetBatch = 100;

export function createEmbeddedDurable<Tables extends DurableTables>(
  options: EmbeddedOptions<Tables>,
): EmbeddedDurable<Transaction<Tables>> {
  return new EmbeddedAdapter<Transaction<Tables>>(options as unknown as AdapterOptions);
}

/** The options of the adapter, typed with only Drover's own tables. */
type AdapterOptions = EmbeddedOptions<DurableTables>;

class EmbeddedAdapter<Tx> extends DurableAdapter<Tx, Db> implements EmbeddedDurable<Tx> {
  readonly #options: AdapterOptions;
  readonly #context: RunContext;
  /** By workflow id. A run that lost its lease stays until its body has returned. */
  readonly #running = new Map<string, Running<Tx>>();
  /** True if a caller has requested a look for work since the last one started. */
  #lookAgain = false;
  #looking: Promise<void> | null = null;
  /** Workflows must not run in the asynchronous context of the request that wakes them. */
  readonly #outside = AsyncLocalStorage.snapshot();
  #leasesExpireAt = 0;

  constructor(options: AdapterOptions) {
    super(options.db, options.clock, options.leaseMs);
    this.#options = options;
    this.#context = { clock: options.clock, crashPoint: options.crashPoint };
  }

  protected async insert(db: Db, row: NewWorkflow): Promise<void> {
    await statements.insertWorkflow(db, row, this.#now());
  }

  wake(): void {
    this.lookForWork();
  }

  protected lookForWork(): void {
    if (!this.launched || this.isClosed) return;
    this.#lookAgain = true;
    this.#looking ??= this.#outside(() => this.#claimWhileAsked());
  }

  async cancel(id: string): Promise<void> {
    const marked = await statements.requestCancel(this.db, id, this.#now());
    if (marked === null) return;
    if (marked.state === 'cancelled') return this.#settleWaiters([id]);
    // A row that is ours but not in the map is being claimed by the current claim.
    if (marked.owner === this.#options.processId && !this.#running.has(id)) await this.#looking;
    const running = this.#running.get(id);
    if (running !== undefined) {
      running.run.stop('cancelled');
      await running.done;
    } else if (marked.owner !== null && !this.#options.isProcessAlive(marked.owner)) {
      await this.#takeOver([marked.owner]);
    }
  }

  async resume(id: string): Promise<void> {
    await statements.resume(this.db, id, this.#now());
    this.wake();
  }

  async get(id: string): Promise<WorkflowInfo | null> {
    const row = await statements.readWorkflow(this.db, id);
    return row === null ? null : toInfo(row, null);
  }

  async launch(): Promise<void> {
    if (this.launched) return;
    this.launched = true;
    await this.#takeOverFromTheDead();
    this.wake();
    await this.#looking;
    this.scheduleTick();
  }

  protected async closeOnce(): Promise<void> {
    this.stopTicking();
    this.#stopAll('closing');
    this.refuseWaiters();
    await this.ticking;
    await this.#looking;
    while (this.#running.size > 0) {
      await Promise.all([...this.#running.values()].map(({ done }) => done));
    }
  }

  async forget(olderThanMs: number): Promise<number> {
    const { db } = this.#options;
    const endedBefore = this.#now() - olderThanMs;
    const last = await statements.readLastSeq(db);
    let forgotten = 0;
    for (let after = 0; after < last; after += forgetBatch) {
      forgotten += await statements.forgetSteps(db, after, after + forgetBatch, endedBefore);
    }
    return forgotten;
  }

  #now(): number {
    return this.#options.clock.now();
  }

  /** Claims until no further look is requested. Only one such loop runs at a time. */
  async #claimWhileAsked(): Promise<void> {
    // Ensures that `#looking` is set before the first look, even if that acts synchronously.
    await Promise.resolve();
    while (this.#lookAgain && !this.isClosed) {
      this.#lookAgain = false;
      try {
        await this.#claimOnce();
      } catch (error) {
        this.#options.onTrouble?.(error);
      }
    }
    this.#looking = null;
  }

  async #claimOnce(): Promise<void> {
    const { db, processId, leaseMs } = this.#options;
    const now = this.#now();
    const leaseExpiresAt = now + leaseMs;
    const runningByQueue = new Map<string, number>();
    for (const { queue } of this.#running.values()) {
      runningByQueue.set(queue, (runningByQueue.get(queue) ?? 0) + 1);
    }
    const { claimed, more } = await claimWork(db, {
      limits: this.limits,
      runningByQueue,
      names: [...this.bodies.keys()],
      notIds: [...this.#running.keys()],
      owner: processId,
      leaseExpiresAt,
      now,
    });
    if (this.#running.size === 0) this.#leasesExpireAt = leaseExpiresAt;
    for (const { row, memos } of claimed) this.#begin(row, memos);
    if (more) this.#lookAgain = true;
  }

  #begin(row: ClaimedRow, memos: Map<string, string | null>): void {
    const { db, clock, processId } = this.#options;
    const fence = { id: row.id, owner: processId, epoch: row.epoch };
    const store = new ClaimSteps<DurableTables, Tx>(db, db, {
      workflowId: row.id,
      insert: (at, name, output) => statements.insertStep(at, fence, name, output, clock.now()),
      mayCommit: (at) => statements.mayCommit(at, fence),
      isTrouble: isDatabaseTrouble,
    });
    const run = new WorkflowRun<Tx>(this.#context, row.id, store, memos);
    if (this.isClosed) run.stop('closing');
    const done = this.#runToEnd(run, fence, row);
    this.#running.set(row.id, { run, fence, queue: row.queue, done });
  }

  /** Never rejects. */
  async #runToEnd(run: WorkflowRun<Tx>, fence: Fence, row: ClaimedRow): Promise<void> {
    const outcome = await this.#outcomeOf(run, row);
    if (run.cause !== 'lost' && run.cause !== 'storage') await this.#finish(fence, outcome);
    this.#running.delete(row.id);
    this.wake();
  }

  async #outcomeOf(run: WorkflowRun<Tx>, row: ClaimedRow): Promise<Outcome> {
    const body = this.bodies.get(row.name);
    // Also lets `#begin` add the run to the map before its body does anything.
    await Promise.resolve();
    if (run.cause !== null) return { state: 'pending' };
    try {
      if (body === undefined) throw new Error(`workflow ${row.name} is not registered`);
      return { state: 'succeeded', result: toJson(await body(run, fromJson(row.input))) };
    } catch (error) {
      if (isDatabaseTrouble(error)) run.stop('storage');
      if (run.cause !== null) return { state: 'pending' };
      return { state: 'failed', error: errorText(error) };
    }
  }

  async #finish(fence: Fence, outcome: Outcome): Promise<void> {
    try {
      const row = await statements.finish(this.db, fence, outcome, this.#now());
      if (row !== null && isEnded(row)) this.waiters.settle(toInfo(row, null));
    } catch (error) {
      // The row stays ours in the file until its lease expires. It is then claimed again and ends
      // from its stored results.
      this.#options.onTrouble?.(error);
    }
  }

  protected async tick(): Promise<void> {
    try {
      await this.#checkLeases();
      if (this.launched) await this.#takeOverFromTheDead();
      await this.#settleWaiters(this.waiters.ids);
      this.wake();
    } catch (error) {
      if (this.#now() >= this.#leasesExpireAt) this.#stopAll('lost');
      this.#options.onTrouble?.(error);
    }
  }

  #stopAll(cause: StopCause): void {
    for (const { run } of this.#running.values()) run.stop(cause);
  }

  /**
   * Renews leases after a third of their time, and stops workflows that another process took over
   * or canceled.
   */
  async #checkLeases(): Promise<void> {
    const { db, processId, leaseMs } = this.#options;
    const running = [...this.#running.values()];
    if (running.length === 0) return;
    const ids = running.map(({ fence }) => fence.id);
    const renewedUntil = this.#now() + leaseMs;
    const renew = this.#leasesExpireAt - this.#now() <= (leaseMs * 2) / 3;
    const held = renew
      ? await statements.renewLeases(db, processId, ids, renewedUntil)
      : await statements.readHeld(db, processId, ids);
    if (renew) this.#leasesExpireAt = renewedUntil;
    const heldById = new Map(held.map((row) => [row.id, row]));
    for (const { run, fence } of running) {
      const row = heldById.get(fence.id);
      if (row?.epoch !== fence.epoch) run.stop('lost');
      else if (row.cancel_requested === 1) run.stop('cancelled');
    }
  }

  async #takeOverFromTheDead(): Promise<void> {
    const { db, processId, isProcessAlive } = this.#options;
    const owners = await statements.readOwners(db);
    const dead = owners
      .map(({ owner }) => owner)
      .filter((owner) => owner !== processId && !isProcessAlive(owner));
    const now = this.#now();
    if (dead.length > 0 || owners.some((owner) => owner.first_expiry <= now)) {
      await this.#takeOver(dead);
    }
  }

  async #takeOver(deadOwners: readonly string[]): Promise<void> {
    await statements.releaseAbandoned(this.db, deadOwners, this.#now());
    await this.#settleWaiters(this.waiters.ids);
    this.wake();
  }

  async #settleWaiters(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    for (const row of await statements.readEnded(this.db, ids)) {
      this.waiters.settle(toInfo(row, null));
    }
  }
}
