// A command of the project's own configuration (gate, setup): its text and how it ended.

export interface CommandRequest {
  /** A shell command line of the project's own configuration (gate, setup). */
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly logPath: string;
  /** Marks the process tree, so that all of it can be ended. */
  readonly runId: string;
}

export interface CommandOutcome {
  readonly kind: 'exited' | 'timed_out' | 'aborted' | 'not_started';
  readonly exitCode: number | null;
  readonly durationMs: number;
  /** How long it had printed nothing when it ended. */
  readonly silentMs?: number;
  /** The end of its output, bounded. */
  readonly tail: string;
  /** The lines of its whole output that explain the failure, bounded. */
  readonly telling: readonly string[];
}
