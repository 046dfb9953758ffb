// Counts the usage of one part of an attempt, from the agent's reports. Pure: totals in,
// differences out.

import { addSpent, nothingSpent, type Spent } from './budget.ts';
import { estimateUsd } from './prices.ts';

export interface UsageTotals {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  /** Null, or as it was: no cost is known for the newest of the tokens. */
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
  /** Since the agent reported a cost: the estimate that its next report replaces. */
  #estimatedUsd = 0;
  #model: string | null = null;
  #unstored: Spent = nothingSpent;

  /** `stored`: the usage already stored for the part, by an earlier process or try. */
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
   * The totals from which a resumed agent counts: they are already stored, or were lost with their
   * line.
   */
  goesOnFrom(totals: UsageTotals): void {
    this.#last = totals;
    this.#estimatedUsd = 0;
  }

  /** The agent's running totals: never a difference. */
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

  /** The usage since the last call. */
  takeUnstored(): Spent {
    const taken = this.#unstored;
    this.#unstored = nothingSpent;
    return taken;
  }

  /**
   * For an agent that does not report its base: its totals include the stored usage, unless they
   * are smaller.
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
