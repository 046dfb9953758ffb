// The reports of `drover worker` while it runs: one line each for people, NDJSON with `--json`.
// Times are Unix milliseconds.

export type WorkerNote =
  | {
      readonly type: 'ready';
      readonly at_ms: number;
      readonly machine: string;
      readonly id: string;
      readonly labels: readonly string[];
      /** At once at the most. */
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
      /** Its agent no longer runs here. */
      readonly type: 'ended';
      readonly at_ms: number;
      readonly task_id: string;
      readonly attempt: number;
      /**
       * `landing`: finished, it goes through the gate and lands; `reassigned`: the task was taken
       * from this machine, which counted as dead; else the state of the task.
       */
      readonly outcome: string;
      readonly worked_ms: number;
      readonly error: string | null;
    }
  | {
      readonly type: 'draining';
      readonly at_ms: number;
      /** Still running here. */
      readonly tasks: readonly string[];
    }
  | {
      /** Something failed and is tried again, or left: the backend's log has all of it. */
      readonly type: 'trouble';
      readonly at_ms: number;
      /** The operation. */
      readonly where: string;
      readonly message: string;
    }
  /** A setting that means nothing, and the like. */
  | { readonly type: 'warning'; readonly at_ms: number; readonly message: string }
  | { readonly type: 'giving_back'; readonly at_ms: number; readonly tasks: readonly string[] }
  | { readonly type: 'over'; readonly at_ms: number; readonly given_back: readonly string[] };

export interface WorkerOptions {
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The values of the command line, by the names of the settings. */
  readonly flags: Readonly<Record<string, unknown>>;
  /** Work still running after this long a drain is released; null = wait for it. */
  readonly drainMaxMs: number | null;
  readonly tell: (note: WorkerNote) => void;
}
