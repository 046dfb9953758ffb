// The usage of a run's attempts, as stored.

/** The usage of an attempt, from its row: the feed does not contain it. */
export interface AttemptUsage {
  readonly task_id: string;
  readonly number: number;
  readonly agent: string;
  readonly model: string | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
}
