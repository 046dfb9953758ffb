// One claimed workflow in this process: stored results, fenced writes, and the signal that ends it
// early. Both adapters use it.

import { fromJson, toJson } from './json.ts';
import { LostLease, type Clock, type DurableRun, type StandStill } from './port.ts';

/**
 * Why a run is ended from outside. `lost`: another process has it, so nothing more is written.
 * `cancelled` and `closing`: we still own the row and end it. `storage`: the database refused a
 * write, so the row is left unchanged and is claimed again when its lease has expired, which avoids
 * a tight retry loop on a full disk. `handed_over`: the body cannot continue in this process.
 */
export type StopCause = 'lost' | 'cancelled' | 'closing' | 'storage' | 'handed_over';

export type CommitVerdict =
  | { readonly verdict: 'yes'; readonly output: string | null }
  | { readonly verdict: 'lost' | 'cancelled' };

/** Stores one claim's steps. Every write is refused if the claim is no longer held. */
export interface StepStore<Tx> {
  /** Returns false if the lease is lost. Nothing was then written, and `record` was not called. */
  storeStep(
    name: string,
    output: string | null,
    record: ((tx: Tx) => Promise<void>) | undefined,
  ): Promise<boolean>;
  /**
   * Stores the body's writes and its output in one transaction, if the lease is held and no cancel
   * was requested.
   */
  commit(name: string, body: (tx: Tx) => Promise<string | null>): Promise<CommitVerdict>;
  /** Runs the body's writes in one transaction if the lease is held. Returns null if it is lost. */
  whileHeld<T>(body: (tx: Tx) => Promise<T>): Promise<{ readonly value: T } | null>;
  /** Distinguishes database problems from a workflow's bug. */
  isTrouble(error: unknown): boolean;
}

export interface RunContext {
  readonly clock: Clock;
  readonly crashPoint: ((workflowId: string, stepName: string) => void) | undefined;
}

/**
 * Limit for a single timer of a long sleep, so that a machine that was suspended wakes soon after
 * the right time.
 */
const sleepSliceMs = 30_000;

export class WorkflowRun<Tx> implements DurableRun<Tx> {
  readonly workflowId: string;
  readonly #context: RunContext;
  readonly #store: StepStore<Tx>;
  readonly #memos: Map<string, string | null>;
  readonly #inFlight = new Map<string, Promise<unknown>>();
  readonly #controller = new AbortController();
  #cause: StopCause | null = null;
  /** How the running body can be suspended. */
  #still: StandStill | null = null;
  #isStanding = false;
  /** A suspended process was killed, so its end says nothing about the work. */
  #isEndedStill = false;
  /** The last switch between running and suspended, which the next one waits for. */
  #standing: Promise<unknown> = Promise.resolve();

  constructor(
    context: RunContext,
    workflowId: string,
    store: StepStore<Tx>,
    memos: Map<string, string | null>,
  ) {
    this.#context = context;
    this.workflowId = workflowId;
    this.#store = store;
    this.#memos = memos;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get cause(): StopCause | null {
    return this.#cause;
  }

  /**
   * The first cause is kept. The signal's reason is always a LostLease, so that bodies handle only
   * one error.
   */
  stop(cause: StopCause): void {
    if (this.#cause !== null) return;
    this.#cause = cause;
    const abort = (): void => this.#controller.abort(new LostLease(this.workflowId));
    const still = this.#isStanding ? this.#still : null;
    // A suspended process must not run again, which reacting to an abort might cause.
    if (still === null) return abort();
    this.#isEndedStill = true;
    void this.#standing.then(() => still.end()).then(abort);
  }

  async standingStill<T>(still: StandStill, body: () => Promise<T>): Promise<T> {
    this.#throwIfStopped();
    this.#still = still;
    try {
      const result = await body();
      if (this.#isEndedStill) throw new LostLease(this.workflowId);
      return result;
    } finally {
      this.#still = null;
      this.#isStanding = false;
    }
  }

  /** Called if others may have taken it: suspends it, or stops it if it cannot be suspended. */
  standStill(): void {
    const still = this.#still;
    if (this.#cause !== null || this.#isStanding) return;
    if (still === null) {
      this.stop('lost');
      return;
    }
    this.#isStanding = true;
    this.#standing = this.#standing
      .then(() => still.begin())
      .then((stands) => {
        if (stands || this.#still !== still || !this.#isStanding) return;
        this.#isStanding = false;
        this.stop('lost');
      });
  }

  /** Called if it still belongs to this process. */
  goOn(): void {
    const still = this.#still;
    if (still === null || !this.#isStanding || this.#cause !== null) return;
    this.#isStanding = false;
    this.#standing = this.#standing.then(() => still.goOn());
  }

  step<T>(
    name: string,
    body: (signal: AbortSignal) => Promise<T>,
    record?: (tx: Tx, value: T) => Promise<void>,
  ): Promise<T> {
    return this.#once(name, async () => {
      const output = toJson(await body(this.signal));
      const recordOutput = record && ((tx: Tx) => record(tx, fromJson(output) as T));
      // A step that finished is stored even if the run was stopped in the meantime, so that a
      // resume need not repeat it.
      const held = await this.#guard(() => this.#store.storeStep(name, output, recordOutput));
      if (!held) this.#lose('lost');
      return output;
    });
  }

  commit<T>(name: string, body: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#once(name, async () => {
      const done = await this.#guard(() =>
        this.#store.commit(name, async (tx) => toJson(await body(tx))),
      );
      if (done.verdict !== 'yes') this.#lose(done.verdict);
      return done.output;
    });
  }

  async whileHeld<T>(body: (tx: Tx) => Promise<T>): Promise<T> {
    if (this.#cause === 'lost') throw new LostLease(this.workflowId);
    // The caller decides about a database problem, because not every such write justifies ending
    // the run.
    const done = await this.#store.whileHeld(body);
    return done === null ? this.#lose('lost') : done.value;
  }

  handOver(): Error {
    this.stop('handed_over');
    return new LostLease(this.workflowId);
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

  /**
   * Reads the stored result, or runs the body and stores its result. Two concurrent calls with one
   * name share one run.
   */
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
      // The result of a first run has passed through JSON, exactly like the one that a resumed run
      // reads.
      return fromJson(output);
    } finally {
      this.#inFlight.delete(name);
    }
  }

  async #guard<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!this.#store.isTrouble(error)) throw error;
      // If the run was already stopped, the next owner determines whether the write succeeded.
      this.#throwIfStopped();
      this.stop('storage');
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
