// What the attempts of a run have used, as stored.

/** What an attempt used, from its row: the feed does not hold it. */
export interface AttemptUsage {
  readonly task_id: string;
  readonly number: number;
  readonly agent: string;
  readonly model: string | null;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
}
