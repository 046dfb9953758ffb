// The usage of a run: sums, and the usage of one message of a model.

import type { Usage } from '../../../protocol/agent-events.ts';
import { numberAt, objectAt, type Json } from './json-line.ts';

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    costUsd: a.costUsd === null && b.costUsd === null ? null : (a.costUsd ?? 0) + (b.costUsd ?? 0),
  };
}

/**
 * The usage of one model message, from its lines. Not final, but the best available after a kill.
 */
export function usageOfMessage(message: Json): Usage {
  const usage = objectAt(message, 'usage');
  return {
    inputTokens: numberAt(usage, 'input_tokens') ?? 0,
    outputTokens: numberAt(usage, 'output_tokens') ?? 0,
    cacheReadTokens: numberAt(usage, 'cache_read_input_tokens') ?? 0,
    costUsd: null,
  };
}
