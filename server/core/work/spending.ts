// Computes the usage of one part of an attempt from its agent's reports, which contain running
// totals. Pure.

import { addSpent, nothingSpent, type Spent } from './budget.ts';
import { estimateUsd } from './prices.ts';

export interface UsageTotals {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  /** Null or unchanged if the cost of the latest tokens is unknown. */
  readonly costUsd: number | null;
}

const noTotals: UsageTotals = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  costUsd: null,
};

export class SpendingCounter {
  readonly #storedTokens: number;
  #last: UsageTotals | null = null;
  /** The estimate since the agent last reported a cost. Its next report replaces it. */
  #estimatedUsd = 0;
  #model: string | null = null;
  #unstored: Spent = nothingSpent;

  /** `stored`: usage of this part that an earlier process or try has stored. */
  constructor(stored: Spent) {
    this.#storedTokens = stored.tokens;
  }

  model(name: string): void {
    this.#model = name;
  }

  turn(): void {
    this.#add({ ...nothingSpent, turns: 1 });
  }

  worked(ms: number): void {
    if (ms > 0) this.#add({ ...nothingSpent, workedMs: ms });
  }

  /**
   * Sets the totals from which a resumed agent counts. They are already stored, or were lost with
   * their report.
   */
  goesOnFrom(totals: UsageTotals): void {
    this.#last = totals;
    this.#estimatedUsd = 0;
  }

  /** Takes the agent's running totals, not differences. */
  usage(totals: UsageTotals): void {
    const last = this.#last ?? this.#firstBase(totals);
    const tokens = Math.max(0, sumOf(totals) - sumOf(last));
    const costUsd = totals.costUsd ?? 0;
    const lastUsd = last.costUsd ?? 0;
    let usd = 0;
    if (costUsd > lastUsd) {
      usd = costUsd - lastUsd - this.#estimatedUsd;
      this.#estimatedUsd = 0;
    } else {
      usd = estimateUsd(this.#model, {
        input: Math.max(0, totals.inputTokens - last.inputTokens),
        output: Math.max(0, totals.outputTokens - last.outputTokens),
        cacheRead: Math.max(0, totals.cacheReadTokens - last.cacheReadTokens),
      });
      this.#estimatedUsd += usd;
    }
    this.#last = { ...totals, costUsd: Math.max(costUsd, lastUsd) };
    this.#add({ ...nothingSpent, tokens, usd });
  }

  get hasUnstored(): boolean {
    const { tokens, usd, turns, workedMs } = this.#unstored;
    return tokens !== 0 || usd !== 0 || turns !== 0 || workedMs !== 0;
  }

  /** Returns the usage since the last call. */
  takeUnstored(): Spent {
    const taken = this.#unstored;
    this.#unstored = nothingSpent;
    return taken;
  }

  /**
   * For an agent that does not report its base: its totals include the stored usage, unless they
   * are lower than it.
   */
  #firstBase(totals: UsageTotals): UsageTotals {
    if (this.#storedTokens === 0 || sumOf(totals) < this.#storedTokens) return noTotals;
    return { ...totals, inputTokens: this.#storedTokens, outputTokens: 0 };
  }

  #add(spent: Spent): void {
    this.#unstored = addSpent(this.#unstored, spent);
  }
}

function sumOf(totals: UsageTotals): number {
  return totals.inputTokens + totals.outputTokens;
}
