// The fleet adapter of the durable port: workflows of DBOS on PostgreSQL, run by any number of processes and machines.
//
// DBOS keeps the workflows, runs the bodies and records how they end. Ours are the claim (limits for each process, order,
// no poll), the memos by name in the transaction of the state change, the heartbeats and the taking over. See the ADR.
//
// Work is found at once, told by NOTIFY; one tick a second does all that needs the clock, and finds what was not heard.

import { randomUUID } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { Pool } from 'pg';
import { errorText, fromJson, toJson } from '../json.ts';
import type {
  Clock,
  Durable,
  QueueLimits,
  StartOptions,
  WorkflowBody,
  WorkflowInfo,
} from '../port.ts';
import { WorkflowRun, type RunContext, type StopCause } from '../run.ts';
import { Waiters } from '../waiters.ts';
import { Announcements, type Topic } from './announcements.ts';
import { claimWork, type ClaimedWorkflow } from './claim.ts';
import * as dbos from './dbos.ts';
import * as executors from './executors.ts';
import { RepeatedJob } from './repeated-job.ts';
import * as statements from './statements.ts';
import type { Db, Fence, WorkflowRow } from './statements.ts';
import { FleetStepStore } from './step-store.ts';
import { isDatabaseTrouble } from './trouble.ts';

export interface FleetOptions {
  /** Of one database, prepared by `prepareFleetDatabase`. The pool is shared with DBOS, which takes a few of it. */
  readonly pool: Pool;
  readonly db: Kysely<never>;
  readonly clock: Clock;
  /** Names this process; `processIdentity()` outside tests. Never used twice: two with one name would share claims. */
  readonly executorId: string;
  /** False only when that process is surely gone: then it is taken over at once. When in doubt, its heartbeat decides. */
  readonly isExecutorAlive: (executorId: string) => boolean;
  /** Our number of compatibility: a process takes up only workflows that were started under the same. */
  readonly applicationVersion: string;
  /** How long after its last heartbeat the work of a process is taken over. */
  readonly takeOverAfterMs: number;
  /** For crash tests: called when a step or commit has been stored, before its result is given out. */
  readonly crashPoint?: ((workflowId: string, stepName: string) => void) | undefined;
  /** Told of errors of the database outside of any caller's request. The adapter tries again by itself. */
  readonly onTrouble?: ((error: unknown) => void) | undefined;
}

export interface FleetDurable<Tx> extends Durable<Tx> {
  /** Deletes the steps of workflows that succeeded longer ago than this, in small batches. Answers how many. */
  forget(olderThanMs: number): Promise<number>;
}

interface Running<Tx> {
  readonly run: WorkflowRun<Tx>;
  readonly fence: Fence;
  readonly queue: string;
  /** Whether DBOS has called the body, and whether that has returned. */
  body: 'not begun' | 'runs' | 'returned';
  /** Resolved when we do not wait for DBOS to record an end. */
  readonly letGo: PromiseWithResolvers<void>;
  readonly ended: PromiseWithResolvers<void>;
}

const tickMsMax = 1_000;
const forgetBatch = 1_000;

/** Hears of the fleet from here on; `launch` takes part in it. */
export async function createFleetDurable<Tables>(
  options: FleetOptions,
): Promise<FleetDurable<Transaction<Tables>>> {
  const adapter = new FleetAdapter<Transaction<Tables>>(options);
  await adapter.listen();
  return adapter;
}

class FleetAdapter<Tx> implements FleetDurable<Tx> {
  readonly #options: FleetOptions;
  readonly #db: Db;
  readonly #context: RunContext;
  readonly #tickMs: number;
  readonly #bodies = new Map<string, WorkflowBody<Tx, unknown, unknown>>();
  readonly #limits = new Map<string, QueueLimits>();
  /** By workflow id. A run that lost its claim stays until its body has returned. */
  readonly #running = new Map<string, Running<Tx>>();
  readonly #waiters = new Waiters();
  readonly #announcements: Announcements;
  readonly #look: RepeatedJob;
  readonly #check: RepeatedJob;
  readonly #settle: RepeatedJob;
  /** Ends DBOS's own waiting for a database that is away. */
  readonly #closing = new AbortController();
  #launched = false;
  #engineRuns = false;
  #closed: Promise<void> | null = null;
  #callOffTick: (() => void) | null = null;
  #callOffExpiry: (() => void) | null = null;
  #aliveUntil = 0;
  #lastCreatedAt = 0;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#db = options.db as unknown as Db;
    this.#context = { clock: options.clock, crashPoint: options.crashPoint };
    this.#tickMs = Math.max(1, Math.min(tickMsMax, Math.floor(options.takeOverAfterMs / 3)));
    const onTrouble = (error: unknown): void => options.onTrouble?.(error);
    const { pool, executorId } = options;
    const onHeard = (heard: ReadonlySet<Topic>): void => this.#hear(heard);
    this.#announcements = new Announcements({ pool, executorId, onHeard, onTrouble });
    this.#look = new RepeatedJob(() => this.#claimOnce(), onTrouble);
    this.#check = new RepeatedJob(() => this.#checkOnce(), onTrouble);
    this.#settle = new RepeatedJob(() => this.#settleOnce(), onTrouble);
  }

  listen(): Promise<void> {
    return this.#announcements.listen();
  }

  workflow<Input, Output>(name: string, body: WorkflowBody<Tx, Input, Output>): void {
    if (this.#launched) throw new Error(`workflow ${name} is registered after launch`);
    if (this.#bodies.has(name)) throw new Error(`workflow ${name} is registered twice`);
    this.#bodies.set(name, (run, input) => body(run, input as Input));
  }

  queue(name: string, limits: QueueLimits): void {
    this.#limits.set(name, limits);
    this.#lookForWork();
  }

  async start(name: string, id: string, input: unknown, options: StartOptions): Promise<void> {
    await this.#insert(this.#db, name, id, input, options);
    this.wake();
  }

  async startIn(
    tx: Tx,
    name: string,
    id: string,
    input: unknown,
    options: StartOptions,
  ): Promise<void> {
    await this.#insert(tx as unknown as Db, name, id, input, options);
  }

  async #insert(
    db: Db,
    name: string,
    id: string,
    given: unknown,
    { queue, priority = 0 }: StartOptions,
  ): Promise<void> {
    const { applicationVersion } = this.#options;
    const input = toJson(given) ?? 'null';
    const createdAfter = this.#lastCreatedAt;
    this.#lastCreatedAt += 1;
    const row = { id, name, queue, priority, input, applicationVersion, createdAfter };
    const createdAt = await statements.insertWorkflow(db, row);
    this.#lastCreatedAt = Math.max(this.#lastCreatedAt, createdAt ?? 0);
  }

  wake(): void {
    this.#announcements.tell('work');
    this.#lookForWork();
  }

  #lookForWork(): void {
    if (this.#engineRuns && this.#closed === null) void this.#look.ask();
  }

  async cancel(id: string): Promise<void> {
    const marked = await statements.requestCancel(this.#db, id);
    if (marked === null) return;
    if (marked.status === 'CANCELLED') return this.#tellEnded();
    if (marked.executor === this.#options.executorId) return this.#cancelHere(id, marked.token);
    this.#announcements.tell('cancel');
    const owner = (await executors.readExecutors(this.#db)).find(
      (executor) => executor.id === marked.executor,
    );
    if (owner !== undefined && this.#isDead(owner)) await this.#takeOver([owner.id]);
  }

  async #cancelHere(id: string, token: string | null): Promise<void> {
    // A row of ours that is not in the map was claimed a moment ago by the look that is under way.
    if (!this.#running.has(id)) await this.#look.settled();
    const running = this.#running.get(id);
    running?.run.stop('cancelled');
    // DBOS was about to record an end, which the mark has made it refuse.
    if (running?.body !== 'runs') {
      await statements.giveUp(this.#db, { id, token: token ?? '' });
      running?.letGo.resolve();
    }
    await running?.ended.promise;
    await this.#tellEnded();
  }

  async resume(id: string): Promise<void> {
    await statements.resume(this.#db, id);
    this.wake();
  }

  async get(id: string): Promise<WorkflowInfo | null> {
    const row = await statements.readWorkflow(this.#db, id);
    return row === null ? null : toInfo(row);
  }

  async wait(id: string): Promise<WorkflowInfo> {
    if (this.#closed !== null) throw new Error('the durable adapter is closed');
    // Registered before the look, so that an end between the two is not missed.
    const { ended, giveUp } = this.#waiters.add(id);
    ended.catch(() => undefined); // It may be rejected by `close` before anybody awaits it below.
    const info = await this.get(id);
    if (info === null || isEnded(info)) giveUp();
    if (info === null) throw new Error(`there is no workflow ${id}`);
    if (isEnded(info)) return info;
    this.#scheduleTick();
    return ended;
  }

  async launch(): Promise<void> {
    if (this.#launched) return;
    this.#launched = true;
    await this.#beat();
    await dbos.launchEngine(
      { ...this.#options, onTrouble: (error) => this.#options.onTrouble?.(error) },
      [...this.#bodies.keys()],
      (name, id, token, input) => this.#execute(name, { id, token }, input),
    );
    this.#engineRuns = true;
    await this.#takeOverFromTheDead();
    await this.#look.ask();
    this.#scheduleTick();
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeOnce();
    return this.#closed;
  }

  async #closeOnce(): Promise<void> {
    this.#closing.abort();
    this.#callOffTick?.();
    this.#callOffExpiry?.();
    this.#stopAll('closing');
    // Before the bodies are awaited: one of them may itself wait for another workflow.
    this.#waiters.rejectAll(new Error('the durable adapter is closed'));
    await Promise.all([this.#check.stop(), this.#look.stop(), this.#settle.stop()]);
    await this.#allEnded();
    if (this.#engineRuns) await dbos.shutDownEngine();
    try {
      if (this.#launched) await executors.leave(this.#db, this.#options.executorId);
    } catch (error) {
      this.#options.onTrouble?.(error); // The heartbeat runs out instead.
    }
    if (this.#launched) this.#announcements.tell('work');
    await this.#announcements.close();
  }

  /** A body is waited for however long it takes; the record of its end only as long as nobody else may take over. */
  async #allEnded(): Promise<void> {
    const { clock, takeOverAfterMs } = this.#options;
    const recordedBy = clock.now() + takeOverAfterMs;
    while (this.#running.size > 0) {
      const running = [...this.#running.values()];
      const pause = Promise.withResolvers<void>();
      const callOff = clock.timer(this.#tickMs, pause.resolve);
      await Promise.race([Promise.all(running.map(({ ended }) => ended.promise)), pause.promise]);
      callOff();
      await this.#checkClaims().catch((error: unknown) => this.#options.onTrouble?.(error));
      if (clock.now() < recordedBy) continue;
      for (const { body, letGo } of running) if (body === 'returned') letGo.resolve();
    }
  }

  async forget(olderThanMs: number): Promise<number> {
    let forgotten = 0;
    for (;;) {
      const batch = await statements.forgetSteps(this.#db, olderThanMs, forgetBatch);
      forgotten += batch;
      if (batch < forgetBatch) return forgotten;
    }
  }

  #hear(heard: ReadonlySet<Topic>): void {
    if (this.#closed !== null) return;
    const shares = [...this.#limits.values()].some(({ concurrency }) => concurrency !== undefined);
    if (heard.has('work') || (heard.has('ended') && shares)) this.#lookForWork();
    if (heard.has('cancel')) void this.#check.ask();
    if (heard.has('ended') && this.#waiters.ids.length > 0) void this.#settle.ask();
  }

  async #tellEnded(): Promise<void> {
    this.#announcements.tell('ended');
    await this.#settle.ask();
  }

  async #claimOnce(): Promise<void> {
    const { executorId, applicationVersion } = this.#options;
    const runningByQueue = new Map<string, number>();
    for (const { queue } of this.#running.values()) {
      runningByQueue.set(queue, (runningByQueue.get(queue) ?? 0) + 1);
    }
    const token = randomUUID();
    const { claimed, more } = await claimWork(this.#db, {
      limits: this.#limits,
      runningByQueue,
      names: [...this.#bodies.keys()],
      notIds: [...this.#running.keys()],
      executorId,
      applicationVersion,
      token,
    });
    const entered = claimed.map((work) => this.#enter(work, token));
    await this.#begin(entered, token);
    if (more) this.#lookForWork();
  }

  #enter({ id, queue, memos }: ClaimedWorkflow, token: string): Running<Tx> {
    const fence = { id, token };
    const store = new FleetStepStore<Tx>(this.#db, fence);
    const run = new WorkflowRun<Tx>(this.#context, id, store, memos);
    if (this.#closed !== null) run.stop('closing');
    const letGo = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const running: Running<Tx> = { run, fence, queue, body: 'not begun', letGo, ended };
    this.#running.set(id, running);
    return running;
  }

  async #begin(entered: readonly Running<Tx>[], token: string): Promise<void> {
    if (entered.length === 0) return;
    const ids = entered.map(({ fence }) => fence.id);
    let recorded: ReadonlyMap<string, Promise<unknown>> = new Map();
    try {
      recorded = await dbos.runClaimed(ids, token, this.#closing.signal);
    } finally {
      for (const running of entered) void this.#follow(running, recorded.get(running.fence.id));
    }
  }

  /** Until DBOS has recorded the end, or need not. Never rejects. */
  async #follow(running: Running<Tx>, recorded: Promise<unknown> | undefined): Promise<void> {
    const recordedOrNot = recorded?.catch(() => undefined);
    await Promise.race([recordedOrNot, running.letGo.promise]);
    if (running.body === 'not begun') await this.#giveUp(running);
    this.#running.delete(running.fence.id);
    running.ended.resolve();
    this.#announcements.tell('ended');
    if (this.#waiters.ids.includes(running.fence.id)) void this.#settle.ask();
    this.#lookForWork();
  }

  /** Called by DBOS. What it returns or throws is what DBOS records, if the claim is still held then. */
  async #execute(name: string, fence: Fence, input: unknown): Promise<unknown> {
    const running = this.#running.get(fence.id);
    if (running?.fence.token !== fence.token) {
      // DBOS took it up by itself, from the queue into which its own tools put what they resume. We take it up instead.
      await statements.giveUp(this.#db, fence);
      this.#lookForWork();
      throw dbos.notOursToEnd(fence.id);
    }
    running.body = 'runs';
    try {
      return await this.#outcomeOf(running, name, input);
    } finally {
      running.body = 'returned';
      if (running.run.cause !== null) running.letGo.resolve();
    }
  }

  async #outcomeOf(running: Running<Tx>, name: string, input: unknown): Promise<unknown> {
    const { run, fence } = running;
    let failure: unknown = null;
    try {
      const body = this.#bodies.get(name);
      if (body === undefined) throw new Error(`there is no workflow named ${name}`);
      if (run.cause === null) {
        const output = toJson(await body(run, input));
        if (run.cause === null) return fromJson(output) ?? null;
      }
    } catch (error) {
      if (isDatabaseTrouble(error)) run.stop('storage');
      failure = error;
    }
    if (run.cause === null) throw new Error(errorText(failure));
    if (run.cause === 'cancelled' || run.cause === 'closing') await this.#giveUp(running);
    throw dbos.notOursToEnd(fence.id);
  }

  /** Never rejects: what could not be given up is a stray of ours, or is taken over when our heartbeat runs out. */
  async #giveUp({ fence }: Running<Tx>): Promise<void> {
    try {
      await statements.giveUp(this.#db, fence);
    } catch (error) {
      this.#options.onTrouble?.(error);
    }
  }

  #scheduleTick(): void {
    const needed = this.#launched || this.#waiters.ids.length > 0;
    if (!needed || this.#closed !== null || this.#callOffTick !== null) return;
    this.#callOffTick = this.#options.clock.timer(this.#tickMs, () => {
      void this.#check.ask().finally(() => {
        this.#callOffTick = null;
        this.#scheduleTick();
      });
    });
  }

  async #checkOnce(): Promise<void> {
    if (this.#engineRuns) {
      await this.#beatIfDue();
      await this.#checkClaims();
      await this.#takeOverFromTheDead();
      this.#lookForWork();
    }
    await this.#settleOnce();
  }

  async #beatIfDue(): Promise<void> {
    const remainingMs = this.#aliveUntil - this.#options.clock.now();
    if (remainingMs <= (this.#options.takeOverAfterMs * 2) / 3) await this.#beat();
  }

  /** Others take over when the time has run out by the database's clock; we stop by then, even if the network hangs. */
  async #beat(): Promise<void> {
    const { clock, executorId, takeOverAfterMs } = this.#options;
    const aliveUntil = clock.now() + takeOverAfterMs;
    await executors.beat(this.#db, executorId, takeOverAfterMs);
    this.#aliveUntil = aliveUntil;
    this.#callOffExpiry?.();
    this.#callOffExpiry = clock.timer(aliveUntil - clock.now(), () => this.#stopAll('lost'));
  }

  #stopAll(cause: StopCause): void {
    for (const { run } of this.#running.values()) run.stop(cause);
  }

  /** Stops what was taken over or cancelled by another process, and gives up what stands as ours but does not run. */
  async #checkClaims(): Promise<void> {
    const running = [...this.#running.values()];
    const ids = running.map(({ fence }) => fence.id);
    const held = ids.length > 0 ? await statements.readHeld(this.#db, ids) : [];
    const heldById = new Map(held.map((row) => [row.id, row]));
    for (const { run, fence, body, letGo } of running) {
      const row = heldById.get(fence.id);
      if (row?.token === fence.token) {
        if (row.cancelled) run.stop('cancelled');
      } else if (body === 'returned') {
        letGo.resolve(); // Its end is recorded, or was refused and never will be.
      } else {
        run.stop('lost');
      }
    }
    const withBody = running.filter(({ body }) => body !== 'returned').map(({ fence }) => fence.id);
    const { executorId } = this.#options;
    const strays = await statements.giveUpStray(this.#db, executorId, ids, withBody);
    if (strays > 0) await this.#tellGivenUp();
  }

  #isDead({ id, expired }: executors.ExecutorRow): boolean {
    const { executorId, isExecutorAlive } = this.#options;
    return id !== executorId && (expired || !isExecutorAlive(id));
  }

  async #takeOverFromTheDead(): Promise<void> {
    const dead = (await executors.readExecutors(this.#db)).filter((row) => this.#isDead(row));
    if (dead.length > 0) await this.#takeOver(dead.map(({ id }) => id));
  }

  async #takeOver(dead: readonly string[]): Promise<void> {
    if ((await executors.takeOver(this.#db, dead)) > 0) await this.#tellGivenUp();
  }

  async #tellGivenUp(): Promise<void> {
    this.wake();
    await this.#tellEnded();
  }

  async #settleOnce(): Promise<void> {
    const ids = this.#waiters.ids;
    if (ids.length === 0) return;
    for (const row of await statements.readEnded(this.#db, ids)) this.#waiters.settle(toInfo(row));
  }
}

function toInfo(row: WorkflowRow): WorkflowInfo {
  const { id, name, queue, state, result, error } = row;
  return { id, name, queue, state, result: fromJson(result) ?? null, error };
}

function isEnded({ state }: Pick<WorkflowInfo, 'state'>): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'cancelled';
}
