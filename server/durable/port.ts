// The durable-execution port: workflows are written once against it; the embedded adapter (SQLite)
// and the fleet adapter (DBOS on PostgreSQL) both implement it and pass the same conformance suite.
//
// Rules of both adapters:
//  - A checkpointed step or commit never runs again. The one that was in progress when the process
//    died does: so every step body first checks the current state and then completes the
//    missing.
//  - Names of steps are unique inside one workflow. The order may change between versions: memos
//    are keyed by name.
//  - A workflow that lost its lease (another process took it over) throws `LostLease` from its next
//    step.

/** The actions of a body while its workflow's owner is unknown. None of these rejects. */
export interface StandStill {
  /** Afterwards the body changes nothing. False if it cannot be stopped. */
  begin(): Promise<boolean>;
  /** The workflow is still its own. */
  goOn(): Promise<void>;
  /** The workflow belongs to another process now: ends stopped processes without resuming them. */
  end(): Promise<void>;
}

/** Inside one running workflow. */
export interface DurableRun<Tx> {
  readonly workflowId: string;
  /** Aborted when the workflow is cancelled, its lease is lost, or the process closes. */
  readonly signal: AbortSignal;
  /**
   * Runs the body once and stores its result (JSON); later calls return the stored result. `record`
   * writes its effects in the same transaction as the checkpoint: one durable write for effect and
   * state.
   */
  step<T>(
    name: string,
    body: (signal: AbortSignal) => Promise<T>,
    record?: (tx: Tx, value: T) => Promise<void>,
  ): Promise<T>;
  /** Like step, but the body's writes and the checkpoint are one transaction. */
  commit<T>(name: string, body: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * A transaction that is not remembered, and that commits only while the claim is held; also when
   * a cancel was asked for. Whatever a body writes outside of its steps goes through here: after a
   * standstill it may belong to a process that has long taken over.
   */
  whileHeld<T>(body: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Runs the body, which can be stopped: once this process has lost its contact with the others, so
   * that they may take the workflow, it is paused instead of being ended, and resumes if the
   * workflow still belongs to this process when the contact returns.
   */
  standingStill<T>(still: StandStill, body: () => Promise<T>): Promise<T>;
  /**
   * Returns the workflow to its queue, so that another process whose limits allow it continues
   * after the last step: for a workflow that cannot continue in this process. The body throws the
   * returned value.
   */
  handOver(): Error;
  /** Sleeps until a wall-clock time in Unix milliseconds; survives a restart. */
  sleepUntil(atMs: number): Promise<void>;
}

export interface QueueLimits {
  /** Workflows of this queue running at once over all processes. */
  readonly concurrency?: number;
  /** Workflows of this queue running at once in one process. */
  readonly perProcess?: number;
}

export interface StartOptions {
  readonly queue: string;
  /** Higher first; then the order of starting. */
  readonly priority?: number;
  /** Its body reads no memos, so that processes of any compatibility number can continue it. */
  readonly isForAnyRelease?: boolean;
}

export type WorkflowState = 'pending' | 'running' | 'succeeded' | 'failed' | 'cancelled';

export interface WorkflowInfo {
  readonly id: string;
  readonly name: string;
  readonly queue: string;
  readonly state: WorkflowState;
  readonly result: unknown;
  readonly error: string | null;
  /** The compatibility number of the processes that can continue it. Null if any can. */
  readonly compatibility: number | null;
}

export type WorkflowBody<Tx, Input, Output> = (
  run: DurableRun<Tx>,
  input: Input,
) => Promise<Output>;

export interface Durable<Tx> {
  /** Registers a body under a name, before `launch`. Input and output are JSON. */
  workflow<Input, Output>(name: string, body: WorkflowBody<Tx, Input, Output>): void;
  /**
   * Sets or changes a queue's limits; takes effect at once. A queue without limits runs everything.
   */
  queue(name: string, limits: QueueLimits): void;
  /** Enqueues; the id is the idempotency key: a second start with the same id does nothing. */
  start(name: string, id: string, input: unknown, options: StartOptions): Promise<void>;
  /**
   * Like `start`, inside a transaction of the caller: the workflow exists exactly if it commits.
   */
  startIn(tx: Tx, name: string, id: string, input: unknown, options: StartOptions): Promise<void>;
  /** Makes adapters look for work now, after a transaction with `startIn` has committed. */
  wake(): void;
  /**
   * Ends a workflow: its signal aborts, it is not resumed. Resolves when its body has returned
   * here.
   */
  cancel(id: string): Promise<void>;
  /** Puts a cancelled or failed workflow back to pending; its memos stay. */
  resume(id: string): Promise<void>;
  get(id: string): Promise<WorkflowInfo | null>;
  /** Resolves when the workflow has ended (in whatever way). */
  wait(id: string): Promise<WorkflowInfo>;
  /** Starts taking work, first the workflows of dead processes. */
  launch(): Promise<void>;
  /**
   * Stops accepting work, aborts the signals of running bodies and waits for them. Unfinished
   * workflows stay pending.
   */
  close(): Promise<void>;
}

/** Thrown from a step of a workflow that another process has taken over, or that was cancelled. */
export class LostLease extends Error {
  constructor(workflowId: string) {
    super(`the lease of workflow ${workflowId} is lost`);
    this.name = 'LostLease';
  }
}

/** Time and chance, so that tests and the simulation can own them. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds without the sleep of the machine; absent if this clock knows of none. */
  readonly awakeMs?: () => number;
  /** Calls back once after the delay; returns a function that calls it off. */
  timer(delayMs: number, callback: () => void): () => void;
}
