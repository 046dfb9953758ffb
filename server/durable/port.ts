// The durable-execution port. Workflows are written once against it. The embedded adapter (SQLite)
// and the fleet adapter (DBOS on PostgreSQL) both implement it and pass the same conformance suite.
//
// Rules of both adapters:
//  - A checkpointed step or commit never runs again. One that was in progress when the process died
//    does, so every step body first checks the current state and then completes what is missing.
//  - Names of steps are unique inside one workflow. Their order may change between versions,
//    because results are stored by name.
//  - A workflow that lost its lease (another process took it over) throws `LostLease` from its next
//    step.

/** The actions of a body while its workflow's owner is unknown. None of these rejects. */
export interface StandStill {
  /** Afterwards the body changes nothing. Returns false if it cannot be suspended. */
  begin(): Promise<boolean>;
  /** The workflow still belongs to this process. */
  goOn(): Promise<void>;
  /**
   * The workflow now belongs to another process: ends suspended processes without resuming them.
   */
  end(): Promise<void>;
}

/** Inside one running workflow. */
export interface DurableRun<Tx> {
  readonly workflowId: string;
  /** Aborted when the workflow is canceled, its lease is lost, or the process closes. */
  readonly signal: AbortSignal;
  /**
   * Runs the body once and stores its result (JSON). Later calls return the stored result. `record`
   * writes its effects in the same transaction as the checkpoint, so that effect and state are one
   * durable write.
   */
  step<T>(
    name: string,
    body: (signal: AbortSignal) => Promise<T>,
    record?: (tx: Tx, value: T) => Promise<void>,
  ): Promise<T>;
  /** Like step, but the body's writes and the checkpoint are one transaction. */
  commit<T>(name: string, body: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * A transaction that is not stored as a step, and that commits only while the claim is held, even
   * if a cancel was requested. All writes of a body outside of its steps use this, because after a
   * suspension another process may have taken over.
   */
  whileHeld<T>(body: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Runs a body that can be suspended. If this process loses contact with the others, so that they
   * may take the workflow, the body is suspended instead of being stopped. It resumes if the
   * workflow still belongs to this process when contact returns.
   */
  standingStill<T>(still: StandStill, body: () => Promise<T>): Promise<T>;
  /**
   * Returns the workflow to its queue, so that another process whose limits allow it continues
   * after the last step. For a workflow that cannot continue in this process. The body throws the
   * returned value.
   */
  handOver(): Error;
  /** Sleeps until a wall-clock time in Unix milliseconds. Survives a restart. */
  sleepUntil(atMs: number): Promise<void>;
}

export interface QueueLimits {
  /** Maximum number of this queue's workflows that run at once over all processes. */
  readonly concurrency?: number;
  /** Maximum number of this queue's workflows that run at once in one process. */
  readonly perProcess?: number;
}

export interface StartOptions {
  readonly queue: string;
  /** Higher first, then in starting order. */
  readonly priority?: number;
  /**
   * If true, its body reads no stored results, so processes of any compatibility number can
   * continue it.
   */
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
  /** The compatibility number of processes that can continue it. Null if any can. */
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
   * Sets or changes a queue's limits, with immediate effect. A queue without limits runs
   * everything.
   */
  queue(name: string, limits: QueueLimits): void;
  /**
   * Enqueues a workflow. The id is the idempotency key: a second start with the same id does
   * nothing.
   */
  start(name: string, id: string, input: unknown, options: StartOptions): Promise<void>;
  /**
   * Like `start`, inside the caller's transaction: the workflow exists if and only if that commits.
   */
  startIn(tx: Tx, name: string, id: string, input: unknown, options: StartOptions): Promise<void>;
  /** Makes adapters look for work now, after a transaction with `startIn` has committed. */
  wake(): void;
  /**
   * Ends a workflow: its signal aborts and it is not resumed. Resolves when its body has returned
   * here.
   */
  cancel(id: string): Promise<void>;
  /** Makes a canceled or failed workflow pending again. Its stored results are preserved. */
  resume(id: string): Promise<void>;
  get(id: string): Promise<WorkflowInfo | null>;
  /** Resolves when the workflow has ended in any way. */
  wait(id: string): Promise<WorkflowInfo>;
  /** Starts claiming work, beginning with the workflows of dead processes. */
  launch(): Promise<void>;
  /**
   * Stops accepting work, aborts the signals of running bodies and waits for them. Unfinished
   * workflows stay pending.
   */
  close(): Promise<void>;
}

/** Thrown from a step of a workflow that another process has taken over, or that was canceled. */
export class LostLease extends Error {
  constructor(workflowId: string) {
    super(`the lease of workflow ${workflowId} is lost`);
    this.name = 'LostLease';
  }
}

/** Time and timers, which tests and the simulation can replace. */
export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds excluding the machine's sleep. Absent if this clock does not know it. */
  readonly awakeMs?: () => number;
  /** Calls back once after the delay. Returns a function that cancels it. */
  timer(delayMs: number, callback: () => void): () => void;
}
