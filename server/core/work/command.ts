// Running a command from the project's configuration (gate, setup): the request and its result.

export interface CommandRequest {
  /** A shell command line of the project's own configuration (gate, setup). */
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly logPath: string;
  /** Marks the process tree, so that all of its processes can be killed. */
  readonly runId: string;
}

export interface CommandOutcome {
  readonly kind: 'exited' | 'timed_out' | 'aborted' | 'not_started';
  readonly exitCode: number | null;
  readonly durationMs: number;
  /** How long it had printed no output when it ended. */
  readonly silentMs?: number;
  /** The end of its output, limited in length. */
  readonly tail: string;
  /** A few lines of its output that explain the failure. */
  readonly telling: readonly string[];
}
