// The runner's units: jobs, each in a separate process, and their results.

/** `gate`: guards a change. `soak`: only in the soak, or by its name. */
export type Tier = 'gate' | 'soak';

/**
 * How a job reports its passed tests: mocha's reporter, its own last line of numbers, or only its
 * exit code.
 */
export type Counting = 'mocha' | 'last-line' | 'exit-code';

export interface Job {
  /** Unique; a path of a test file if the job is one. */
  readonly name: string;
  readonly suite: string;
  readonly tier: Tier;
  /** It has deadlines, so two such jobs never run on two cores. */
  readonly isTimed: boolean;
  /** Names of jobs that must pass before this one starts. */
  readonly after: readonly string[];
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly counting: Counting;
  /** The job's processes are killed after this time. */
  readonly limitMs: number;
  /** If true, a failed job runs a second time, alone. See `retries.ts`. */
  readonly isRetried: boolean;
}

export interface Failure {
  readonly title: string;
  /** The test's message, cut to a readable length. */
  readonly why: string;
}

export interface FileTimes {
  readonly file: string;
  readonly durationMs: number;
  readonly cpuMs: number;
}

export interface Outcome {
  readonly job: string;
  readonly suite: string;
  readonly passed: number;
  readonly failures: readonly Failure[];
  readonly durationMs: number;
  /** CPU time of the job's processes, including those that outlive their starter. */
  readonly cpuMs: number;
  /** Each file's own share in a job with several files. */
  readonly files: readonly FileTimes[];
  /** A job that it needs has failed, so it did not run. */
  readonly isBlocked: boolean;
  /** The job's whole output. */
  readonly output: string;
}

export const isGreen = (outcome: Outcome): boolean => outcome.failures.length === 0;
