// The fleet adapter of the durable port: DBOS workflows on PostgreSQL, run by any number of
// processes and machines.
//
// DBOS stores the workflows and runs the bodies. The adapter implements claims (limits per process,
// order, no polling by DBOS), results stored by name in the transaction of the state change, the
// record of the end, heartbeats and takeovers. See ADR 13.
//
// NOTIFY announces work at once. One tick per second does everything that depends on time, and
// finds missed notifications.

import { randomUUID } from 'node:crypto';
import type { Transaction } from 'kysely';
import { DurableAdapter } from '../adapter.ts';
import type { QueueLimits, StartOptions, WorkflowInfo } from '../port.ts';
import { type NewWorkflow, toInfo } from '../workflow-rows.ts';
import { Announcements, type News } from './announcements.ts';
import { claimWork } from './claim.ts';
import { ClaimedRuns } from './claimed-runs.ts';
import * as dbos from './dbos.ts';
import * as executors from './executors.ts';
import { HeardExecutors } from './heard-executors.ts';
import { anyRelease, parseCompatibility } from './releases.ts';
import { RepeatedJob } from './repeated-job.ts';
import * as statements from './statements.ts';
import type { Db, ReleasedRow } from './statements.ts';
import { readExecutors, survey } from './survey.ts';
import type { FleetOptions, FleetDurable } from './fleet-options.ts';

const forgetBatch = 1_000;
/**
 * An agent that is suspended for longer is stopped, because its own connections are lost by then.
 */
const stillMaxMs = 120_000;

/** Listens to the fleet from now on. `launch` joins it. */
export async function createFleetDurable<Tables>(
  options: FleetOptions,
): Promise<FleetDurable<Transaction<Tables>>> {
  const adapter = new FleetAdapter<Transaction<Tables>>(options);
  await adapter.listen();
  return adapter;
}

class FleetAdapter<Tx> extends DurableAdapter<Tx, Db> implements FleetDurable<Tx> {
  readonly #options: FleetOptions;
  readonly #runs: ClaimedRuns<Tx>;
  readonly #announcements: Announcements;
  readonly #toSettle = new Set<string>();
  readonly #look: RepeatedJob;
  readonly #check: RepeatedJob;
  readonly #settle: RepeatedJob;
  #engineRuns = false;
  #callOffExpiry: (() => void) | null = null;
  #aliveUntil = 0;
  /** When this process lost the database. Null while it is connected. */
  #stillSince: number | null = null;
  readonly #heard: HeardExecutors;
  #lastCreatedAt = 0;

  constructor(options: FleetOptions) {
    super(options.db, options.clock, options.takeOverAfterMs);
    this.#options = options;
    this.#heard = new HeardExecutors(options.takeOverAfterMs, this.tickMs);
    const onTrouble = (error: unknown): void => options.onTrouble?.(error);
    const { pool, executorId } = options;
    this.#runs = new ClaimedRuns({
      ...options,
      bodiesDb: options.bodiesDb as unknown as Db,
      bodies: this.bodies,
      onTrouble,
      onEnded: (id) => this.#runEnded(id),
      onRoom: () => this.lookForWork(),
    });
    const onHeard = (news: News): void => this.#hear(news);
    this.#announcements = new Announcements({ pool, executorId, onHeard, onTrouble });
    this.#look = new RepeatedJob(() => this.#claimOnce(), onTrouble);
    this.#check = new RepeatedJob(() => this.#checkOnce(), onTrouble);
    this.#settle = new RepeatedJob(() => this.#settleOnce(), onTrouble);
  }

  listen(): Promise<void> {
    return this.#announcements.listen();
  }

  protected async insert(db: Db, start: NewWorkflow, options: StartOptions): Promise<void> {
    const createdAt = await statements.insertWorkflow(db, this.#numbered(start, options));
    this.#lastCreatedAt = Math.max(this.#lastCreatedAt, createdAt ?? 0);
  }

  protected override insertIn(tx: Db, start: NewWorkflow, options: StartOptions): Promise<void> {
    return statements.insertWorkflowLast(tx, this.#numbered(start, options));
  }

  #numbered(
    start: NewWorkflow,
    { isForAnyRelease = false }: StartOptions,
  ): statements.FleetWorkflow {
    const applicationVersion = isForAnyRelease ? anyRelease : this.#options.applicationVersion;
    const createdAfter = this.#lastCreatedAt;
    this.#lastCreatedAt += 1;
    return { ...start, applicationVersion, createdAfter };
  }

  wake(): void {
    this.#announcements.tell({ work: true });
    this.lookForWork();
  }

  #limitsOf(queue: string): QueueLimits | undefined {
    return this.limits.get(queue) ?? this.#options.limitsOf?.(queue);
  }

  protected lookForWork(): void {
    if (this.#engineRuns && !this.isClosed) void this.#look.ask();
  }

  async cancel(id: string): Promise<void> {
    const marked = await statements.requestCancel(this.db, id);
    if (marked === null) return;
    if (marked.status === 'CANCELLED') return this.#tellEnded([id]);
    if (marked.executor === this.#options.executorId) {
      // A row that is ours but does not run here is being claimed by the current claim.
      if (!this.#runs.has(id)) await this.#look.settled();
      await this.#runs.cancel({ id, token: marked.token ?? '' });
      return this.#tellEnded([id]);
    }
    this.#announcements.tell({ cancel: true });
    const owner = (await readExecutors(this.db)).find(
      (executor) => executor.id === marked.executor,
    );
    if (owner !== undefined && this.#isDead(owner)) await this.#takeOver([owner]);
  }

  async resume(id: string): Promise<void> {
    await statements.resume(this.db, id);
    this.wake();
  }

  async get(id: string): Promise<WorkflowInfo | null> {
    const row = await statements.readWorkflow(this.db, id);
    return row === null ? null : infoOf(row);
  }

  async launch(): Promise<void> {
    if (this.launched) return;
    this.launched = true;
    try {
      await this.#beat();
      await dbos.launchEngine(this.#options, [...this.bodies.keys()], (name, id, token, input) =>
        this.#runs.execute(name, { id, token }, input),
      );
    } catch (error) {
      this.launched = false; // Launching may be tried again.
      throw error;
    }
    this.#engineRuns = true;
    await this.#takeOverFrom(await readExecutors(this.db));
    await this.#look.ask();
    this.scheduleTick();
  }

  protected async closeOnce(): Promise<void> {
    this.stopTicking();
    this.#runs.close();
    this.refuseWaiters();
    await Promise.all([this.#check.stop(), this.#look.stop(), this.#settle.stop()]);
    await this.#runs.allEnded(this.tickMs);
    if (this.#engineRuns) await dbos.shutDownEngine();
    try {
      if (this.launched) await executors.leave(this.db, this.#options.executorId);
    } catch (error) {
      this.#options.onTrouble?.(error); // The heartbeat expires instead.
    }
    this.#callOffExpiry?.();
    if (this.launched) this.#announcements.tell({ work: true });
    await this.#announcements.close();
  }

  async forget(olderThanMs: number): Promise<number> {
    let forgotten = 0;
    for (;;) {
      const batch = await statements.forgetSteps(this.db, olderThanMs, forgetBatch);
      forgotten += batch;
      if (batch < forgetBatch) return forgotten;
    }
  }

  #hear({ work, cancel, ended }: News): void {
    if (this.isClosed) return;
    const shares =
      this.#options.limitsOf !== undefined ||
      [...this.limits.values()].some(({ concurrency }) => concurrency !== undefined);
    if (work || (ended.length > 0 && shares)) this.lookForWork();
    if (cancel) void this.#check.ask();
    void this.#settleWaiters(ended);
  }

  #runEnded(id: string): void {
    this.#announcements.tell({ ended: [id] });
    void this.#settleWaiters([id]);
    this.lookForWork();
  }

  #tellEnded(ended: readonly string[] | 'all'): Promise<void> {
    this.#announcements.tell({ ended });
    return this.#settleWaiters(ended);
  }

  /** Never rejects. Queries only workflows that callers here wait for. */
  async #settleWaiters(ended: readonly string[] | 'all'): Promise<void> {
    const ids = ended === 'all' ? this.waiters.ids : ended.filter((id) => this.waiters.has(id));
    for (const id of ids) this.#toSettle.add(id);
    if (ids.length > 0) await this.#settle.ask();
  }

  async #settleOnce(): Promise<void> {
    const ids = [...this.#toSettle];
    this.#toSettle.clear();
    if (ids.length === 0) return;
    for (const row of await statements.readEnded(this.db, ids)) this.waiters.settle(infoOf(row));
  }

  async #claimOnce(): Promise<void> {
    const { executorId, applicationVersion } = this.#options;
    const token = randomUUID();
    const { claimed, more } = await claimWork(this.db, {
      limitsOf: (queue) => this.#limitsOf(queue),
      runningByQueue: this.#runs.countByQueue(),
      names: [...this.bodies.keys()],
      notIds: this.#runs.ids,
      executorId,
      applicationVersion,
      token,
    });
    await this.#runs.begin(claimed, token);
    if (more) this.lookForWork();
  }

  protected tick(): Promise<void> {
    return this.#check.ask();
  }

  async #checkOnce(): Promise<void> {
    if (this.#engineRuns) {
      await this.#beatIfDue();
      const seen = survey(this.db, this.#options.executorId);
      if ((await this.#runs.check(seen.then(({ claims }) => claims))) > 0)
        await this.#tellGivenUp();
      const { executors: all, isWorkPending } = await seen;
      this.#heard.look(all, this.#options.clock.now());
      await this.#takeOverFrom(all);
      if (isWorkPending) this.lookForWork();
    }
    await this.#settleWaiters('all');
  }

  async #beatIfDue(): Promise<void> {
    const remainingMs = this.#aliveUntil - this.#options.clock.now();
    if (remainingMs <= (this.#options.takeOverAfterMs * 2) / 3) await this.#beat();
  }

  /**
   * Other processes take over when the time has expired by the database's clock. Our work is
   * stopped before that, even if the network hangs.
   */
  async #beat(): Promise<void> {
    const { clock, executorId, takeOverAfterMs } = this.#options;
    const aliveUntil = clock.now() + takeOverAfterMs;
    await executors.beat(this.db, executorId, takeOverAfterMs);
    // Others may have lost the database for as long, and have not been heard yet.
    if (this.#stillSince !== null) this.#heard.wasAway();
    this.#stillSince = null;
    this.#aliveUntil = aliveUntil;
    this.#expireIn(aliveUntil - clock.now());
  }

  #expireIn(delayMs: number): void {
    const { clock, takeOverAfterMs, onExpired } = this.#options;
    this.#callOffExpiry?.();
    this.#callOffExpiry = clock.timer(delayMs, () => {
      this.#stillSince ??= clock.now();
      if (clock.now() - this.#stillSince < stillMaxMs) this.#runs.standStill();
      else this.#runs.stopAll('lost');
      onExpired?.();
      this.#expireIn(takeOverAfterMs);
    });
  }

  #isDead({ id, expired, beat }: executors.ExecutorRow): boolean {
    const { executorId, isExecutorAlive } = this.#options;
    // A process without a heartbeat has left or was taken over before.
    const isSilent = beat === '' || (expired && this.#heard.isSilent(id));
    return id !== executorId && (isSilent || !isExecutorAlive(id));
  }

  async #takeOverFrom(all: readonly executors.ExecutorRow[]): Promise<void> {
    const dead = all.filter((row) => this.#isDead(row));
    if (dead.length > 0) await this.#takeOver(dead);
  }

  async #takeOver(dead: readonly executors.ExecutorRow[]): Promise<void> {
    const idsOf = (isExpired: boolean): readonly string[] =>
      dead.filter(({ expired }) => expired === isExpired).map(({ id }) => id);
    const parts = { silent: idsOf(true), ended: idsOf(false) };
    const taken = await executors.takeOver(this.db, parts);
    if (taken > 0) await this.#tellGivenUp();
  }

  async #tellGivenUp(): Promise<void> {
    this.wake();
    await this.#tellEnded('all');
  }
}

function infoOf(row: ReleasedRow): WorkflowInfo {
  return toInfo(row, parseCompatibility(row.release));
}
