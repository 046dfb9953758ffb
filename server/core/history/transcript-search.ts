// The results of a transcript search: one match per log, newest attempts first.

export interface TranscriptHit {
  /** The task or sub-task whose log this is. */
  readonly task_id: string;
  readonly title: string;
  readonly attempt: number;
  readonly run_id: string | null;
  readonly agent: string | null;
  /** Unix milliseconds. */
  readonly at_ms: number;
  /** Offset of the matching line in the log, as accepted by `log.read`. */
  readonly offset: number;
  /** The type of the event: `text`, `tool_call`, `output` … */
  readonly type: string;
  /** One line around the first search word. */
  readonly text: string;
}

export interface TranscriptSearch {
  readonly hits: readonly TranscriptHit[];
  /** Attempts searched for this answer; `total` is the number of all attempts. */
  readonly searched: number;
  readonly attempts: number;
  /** Pass this as `after` to continue with older attempts. Null if all attempts were searched. */
  readonly next: string | null;
}
