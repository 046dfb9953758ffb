// Approximate token prices from the providers' public lists. Used only until an agent reports its
// cost.

export interface TokenCounts {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
}

interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
}

/**
 * US dollars per million tokens. The first entry whose name is part of the model's name applies.
 */
const prices: readonly (readonly [string, Price])[] = [
  ['haiku', { input: 1, output: 5, cacheRead: 0.1 }],
  ['sonnet', { input: 3, output: 15, cacheRead: 0.3 }],
  ['opus', { input: 5, output: 25, cacheRead: 0.5 }],
  ['mini', { input: 0.5, output: 2, cacheRead: 0.05 }],
  ['flash', { input: 0.5, output: 3, cacheRead: 0.05 }],
  ['gpt', { input: 2, output: 14, cacheRead: 0.2 }],
  ['gemini', { input: 2, output: 12, cacheRead: 0.2 }],
];

/** For unknown models: prices of a mid-range model. */
const unknownPrice: Price = { input: 3, output: 15, cacheRead: 0.3 };

export function estimateUsd(model: string | null, counts: TokenCounts): number {
  const name = model?.toLowerCase() ?? '';
  const price = prices.find(([part]) => name.includes(part))?.[1] ?? unknownPrice;
  const { input, output, cacheRead } = counts;
  return (input * price.input + output * price.output + cacheRead * price.cacheRead) / 1_000_000;
}
