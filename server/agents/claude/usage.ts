// What a run has used so far. Claude Code reports increments with each result; a turn that was
// killed has none, so the usage of its messages stands in as an estimate (no cost).

import { noUsage } from '../port.ts';
import type { Usage } from '../../protocol/agent-events.ts';
import { asObject, numberAt, objectAt, type Json } from './wire.ts';

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    costUsd: a.costUsd === null && b.costUsd === null ? null : (a.costUsd ?? 0) + (b.costUsd ?? 0),
  };
}

/**
 * What was used since the result before this one: the totals beside it also count what other
 * processes used.
 */
export function usageSinceLastResult(result: Json): Usage {
  const models = Object.values(objectAt(result, 'model_usage_since_last_result'));
  return models.reduce<Usage>(
    (sum, value) => {
      const model = asObject(value) ?? {};
      return addUsage(sum, {
        inputTokens: numberAt(model, 'inputTokens') ?? 0,
        outputTokens: numberAt(model, 'outputTokens') ?? 0,
        cacheReadTokens: numberAt(model, 'cacheReadInputTokens') ?? 0,
        costUsd: numberAt(model, 'costUSD') ?? 0,
      });
    },
    { ...noUsage, costUsd: 0 },
  );
}

/**
 * The usage of one model message as its lines tell it; not final, but all there is after a kill.
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
