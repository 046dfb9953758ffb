// The common part of both adapters of the durable port: registration, starts, waiting for an end, a
// tick for all time-dependent work, and closing once.

import { toJson } from './json.ts';
import type { Clock, QueueLimits, StartOptions, WorkflowBody, WorkflowInfo } from './port.ts';
import { Waiters } from './waiters.ts';
import type { NewWorkflow } from './workflow-rows.ts';

const tickMsMax = 1_000;

export abstract class DurableAdapter<Tx, Db> {
  protected readonly db: Db;
  protected readonly tickMs: number;
  protected readonly bodies = new Map<string, WorkflowBody<Tx, unknown, unknown>>();
  protected readonly limits = new Map<string, QueueLimits>();
  protected readonly waiters = new Waiters();
  protected launched = false;
  protected ticking: Promise<void> | null = null;
  readonly #clock: Clock;
  #closed: Promise<void> | null = null;
  #callOffTick: (() => void) | null = null;

  /** Three ticks fit into the time after which other processes take over. */
  constructor(db: Db, clock: Clock, takeOverAfterMs: number) {
    this.db = db;
    this.#clock = clock;
    this.tickMs = Math.max(1, Math.min(tickMsMax, Math.floor(takeOverAfterMs / 3)));
  }

  abstract wake(): void;
  abstract get(id: string): Promise<WorkflowInfo | null>;

  /** Looks for pending workflows in this process. Does not notify other processes. */
  protected abstract lookForWork(): void;
  protected abstract insert(db: Db, row: NewWorkflow, options: StartOptions): Promise<void>;
  /** Like `insert`, in the caller's transaction. */
  protected insertIn(tx: Db, row: NewWorkflow, options: StartOptions): Promise<void> {
    return this.insert(tx, row, options);
  }
  /** Never rejects. */
  protected abstract tick(): Promise<void>;
  /** The body of `close`, called once. It must call `stopTicking` first. */
  protected abstract closeOnce(): Promise<void>;

  workflow<Input, Output>(name: string, body: WorkflowBody<Tx, Input, Output>): void {
    if (this.launched) throw new Error(`workflow ${name} is registered after launch`);
    if (this.bodies.has(name)) throw new Error(`workflow ${name} is registered twice`);
    this.bodies.set(name, (run, input) => body(run, input as Input));
  }

  queue(name: string, limits: QueueLimits): void {
    this.limits.set(name, limits);
    this.lookForWork();
  }

  async start(name: string, id: string, input: unknown, options: StartOptions): Promise<void> {
    await this.insert(this.db, rowOf(name, id, input, options), options);
    this.wake();
  }

  async startIn(
    tx: Tx,
    name: string,
    id: string,
    input: unknown,
    options: StartOptions,
  ): Promise<void> {
    await this.insertIn(tx as unknown as Db, rowOf(name, id, input, options), options);
  }

  async wait(id: string): Promise<WorkflowInfo> {
    if (this.isClosed) throw new Error('the durable adapter is closed');
    return await this.waiters.wait(
      id,
      () => this.get(id),
      () => this.scheduleTick(),
    );
  }

  close(): Promise<void> {
    this.#closed ??= this.closeOnce();
    return this.#closed;
  }

  protected get isClosed(): boolean {
    return this.#closed !== null;
  }

  protected scheduleTick(): void {
    const needed = this.launched || this.waiters.ids.length > 0;
    if (!needed || this.isClosed || this.#callOffTick !== null) return;
    this.#callOffTick = this.#clock.timer(this.tickMs, () => {
      this.ticking = this.tick().finally(() => {
        this.ticking = null;
        this.#callOffTick = null;
        this.scheduleTick();
      });
    });
  }

  protected stopTicking(): void {
    this.#callOffTick?.();
  }

  /** Call before waiting for bodies, because a body may itself wait for another workflow. */
  protected refuseWaiters(): void {
    this.waiters.rejectAll(new Error('the durable adapter is closed'));
  }
}

function rowOf(name: string, id: string, input: unknown, options: StartOptions): NewWorkflow {
  const { queue, priority = 0 } = options;
  return { id, name, queue, priority, input: toJson(input) ?? 'null' };
}
