// The results of a search in transcripts: one place of each log, newest attempts first.

export interface TranscriptHit {
  /** The task, or the sub-task whose part of the attempt it is. */
  readonly task_id: string;
  readonly title: string;
  readonly attempt: number;
  readonly run_id: string | null;
  readonly agent: string | null;
  /** Unix milliseconds. */
  readonly at_ms: number;
  /** The offset of its line in the log, as `log.read` takes it. */
  readonly offset: number;
  /** The type of the event: `text`, `tool_call`, `output` … */
  readonly type: string;
  /** One line around the first word. */
  readonly text: string;
}

export interface TranscriptSearch {
  readonly hits: readonly TranscriptHit[];
  /** Attempts that were searched for this answer, and those that there are. */
  readonly searched: number;
  readonly attempts: number;
  /** `after` of the request that continues with older attempts. Null once all are searched. */
  readonly next: string | null;
}
