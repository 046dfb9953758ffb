// The stored usage of a run's attempts.

/** The usage of an attempt, from its row, because the feed does not contain it. */
export interface AttemptUsage {
  readonly task_id: string;
  readonly number: number;
  readonly agent: string;
  readonly model: string | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
}
