// The model as planning sees it: one prompt and its answer, from any provider.

import type { Result } from '../../core/failure.ts';

/** An answer that could not be used, with the reason. */
export interface RefusedAnswer {
  readonly answer: string;
  readonly complaint: string;
}

export interface PlanQuestion {
  readonly prompt: string;
  readonly refused: RefusedAnswer | null;
}

export interface PlanUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Null if the provider does not report it. */
  readonly costUsd: number | null;
}

export interface PlanAnswer {
  /** The answer: an object if it is well-formed, else the text. */
  readonly answer: unknown;
  readonly usage: PlanUsage;
}

export interface PlanModel {
  /** For people: `claude-opus-5-5`, or the program. */
  readonly name: string;
  /** Never rejects for failures of the model, the network or the program. */
  ask(question: PlanQuestion, signal: AbortSignal): Promise<Result<PlanAnswer>>;
}
