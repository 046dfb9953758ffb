// The reports of `drover worker` while it runs: one line each for people, NDJSON with `--json`.
// Times are Unix milliseconds.

export type WorkerNote =
  | {
      readonly type: 'ready';
      readonly at_ms: number;
      readonly machine: string;
      readonly id: string;
      readonly labels: readonly string[];
      /** Maximum number at once. */
      readonly agents: number;
      /** Without the password. */
      readonly database: string;
      /** The git remote that all machines share. */
      readonly remote: string;
      readonly version: string;
    }
  | {
      readonly type: 'begun';
      readonly at_ms: number;
      readonly task_id: string;
      readonly title: string;
      readonly attempt: number;
      readonly agent: string;
      readonly model: string | null;
    }
  | {
      /** The task's agent no longer runs here. */
      readonly type: 'ended';
      readonly at_ms: number;
      readonly task_id: string;
      readonly attempt: number;
      /**
       * `landing`: the work is finished and goes through the gate. `reassigned`: the task was taken
       * from this machine, which counted as dead. Otherwise the task's status.
       */
      readonly outcome: string;
      readonly worked_ms: number;
      readonly error: string | null;
    }
  | {
      readonly type: 'draining';
      readonly at_ms: number;
      /** Tasks that still run here. */
      readonly tasks: readonly string[];
    }
  | {
      /** An operation failed, and is retried or skipped. The backend's log has the details. */
      readonly type: 'trouble';
      readonly at_ms: number;
      /** The operation. */
      readonly where: string;
      readonly message: string;
    }
  /** For example, a setting without effect. */
  | { readonly type: 'warning'; readonly at_ms: number; readonly message: string }
  | { readonly type: 'giving_back'; readonly at_ms: number; readonly tasks: readonly string[] }
  | { readonly type: 'over'; readonly at_ms: number; readonly given_back: readonly string[] };

export interface WorkerOptions {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The command line's values, by the names of the settings. */
  readonly flags: Readonly<Record<string, unknown>>;
  /** Work that is still running after draining this long is released; null = wait for it. */
  readonly drainMaxMs: number | null;
  readonly tell: (note: WorkerNote) => void;
}
