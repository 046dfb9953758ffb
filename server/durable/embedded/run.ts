// One claimed workflow in this process: memos, fenced writes, and the signal that ends it early.

import type { Kysely, Transaction } from 'kysely';
import { LostLease, type Clock, type DurableRun } from '../port.ts';
import { fromJson, toJson } from './json.ts';
import { insertStep, mayCommit, type Fence } from './statements.ts';
import type { DurableTables } from './tables.ts';
import { isDatabaseTrouble } from './trouble.ts';

/**
 * Why a run is ended from outside. `lost`: another process has it, so nothing more is written. `cancelled` and
 * `closing`: the row is still ours to end. `storage`: the database refused a write, so the row is left as it is and
 * comes back when its lease has run out, which keeps a full disk from being tried in a tight loop.
 */
export type StopCause = 'lost' | 'cancelled' | 'closing' | 'storage';

export interface RunContext {
  readonly db: Kysely<DurableTables>;
  readonly clock: Clock;
  readonly crashPoint: ((workflowId: string, stepName: string) => void) | undefined;
}

/** Timers of a long sleep are cut to this, so that a machine that was suspended wakes soon after the right time. */
const sleepSliceMs = 30_000;

export class WorkflowRun<Tx> implements DurableRun<Tx> {
  readonly fence: Fence;
  readonly #context: RunContext;
  readonly #memos: Map<string, string | null>;
  readonly #inFlight = new Map<string, Promise<unknown>>();
  readonly #controller = new AbortController();
  #cause: StopCause | null = null;

  constructor(context: RunContext, fence: Fence, memos: Map<string, string | null>) {
    this.#context = context;
    this.fence = fence;
    this.#memos = memos;
  }

  get workflowId(): string {
    return this.fence.id;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get cause(): StopCause | null {
    return this.#cause;
  }

  /** The first cause stays. The reason of the signal is always a LostLease, so that bodies know one error only. */
  stop(cause: StopCause): void {
    if (this.#cause !== null) return;
    this.#cause = cause;
    this.#controller.abort(new LostLease(this.workflowId));
  }

  step<T>(
    name: string,
    body: (signal: AbortSignal) => Promise<T>,
    record?: (tx: Tx, value: T) => Promise<void>,
  ): Promise<T> {
    return this.#once(name, async () => {
      const output = toJson(await body(this.signal));
      // A step that finished is stored even if the run was stopped meanwhile: a resume need not repeat it.
      const held = await this.#guard(() => this.#storeStep(name, output, record));
      if (!held) this.#lose('lost');
      return output;
    });
  }

  /** False when the lease is lost: then nothing was written, and `record` was not called. */
  #storeStep<T>(
    name: string,
    output: string | null,
    record: ((tx: Tx, value: T) => Promise<void>) | undefined,
  ): Promise<boolean> {
    const { db, clock } = this.#context;
    if (record === undefined) return insertStep(db, this.fence, name, output, clock.now());
    return db.transaction().execute(async (tx) => {
      if (!(await insertStep(tx, this.fence, name, output, clock.now()))) return false;
      await record(asCallersTransaction<Tx>(tx), fromJson(output) as T);
      return true;
    });
  }

  commit<T>(name: string, body: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#once(name, async () => {
      const { db, clock } = this.#context;
      const done = await this.#guard(() =>
        db.transaction().execute(async (tx) => {
          const verdict = await mayCommit(tx, this.fence);
          if (verdict !== 'yes') return { verdict, output: null };
          const output = toJson(await body(asCallersTransaction<Tx>(tx)));
          const held = await insertStep(tx, this.fence, name, output, clock.now());
          if (!held)
            throw new Error(`the lease of ${this.workflowId} was lost inside a transaction`);
          return { verdict, output };
        }),
      );
      if (done.verdict !== 'yes') this.#lose(done.verdict);
      return done.output;
    });
  }

  async sleepUntil(atMs: number): Promise<void> {
    const { clock } = this.#context;
    for (;;) {
      this.#throwIfStopped();
      const remainingMs = atMs - clock.now();
      if (remainingMs <= 0) return;
      await this.#pause(Math.min(remainingMs, sleepSliceMs));
    }
  }

  /** Looks up the memo, else runs and remembers. Two calls with one name at the same time share one run. */
  async #once<T>(name: string, run: () => Promise<string | null>): Promise<T> {
    this.#throwIfStopped();
    const memo = this.#memos.get(name);
    if (memo !== undefined) return fromJson(memo) as T;
    let running = this.#inFlight.get(name);
    if (running === undefined) {
      running = this.#runAndRemember(name, run);
      this.#inFlight.set(name, running);
    }
    return (await running) as T;
  }

  async #runAndRemember(name: string, run: () => Promise<string | null>): Promise<unknown> {
    try {
      const output = await run();
      this.#memos.set(name, output);
      this.#context.crashPoint?.(this.workflowId, name);
      // What a first run returns has gone through JSON, exactly as what a resumed run will see.
      return fromJson(output);
    } finally {
      this.#inFlight.delete(name);
    }
  }

  async #guard<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (isDatabaseTrouble(error)) this.stop('storage');
      throw error;
    }
  }

  #lose(cause: StopCause): never {
    this.stop(cause);
    throw new LostLease(this.workflowId);
  }

  #throwIfStopped(): void {
    if (this.#cause !== null) throw new LostLease(this.workflowId);
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        callOff();
        this.signal.removeEventListener('abort', end);
        resolve();
      };
      const callOff = this.#context.clock.timer(delayMs, end);
      this.signal.addEventListener('abort', end);
    });
  }
}

/** The caller chose Tx as the transaction type of the very database it handed us. */
function asCallersTransaction<Tx>(tx: Transaction<DurableTables>): Tx {
  return tx as unknown as Tx;
}
