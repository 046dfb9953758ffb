// The lines that Claude Code reads, and the usage in its results (stream-json with the control
// protocol).

import type { Usage } from '../../protocol/agent-events.ts';
import { asObject, numberAt, objectAt, type Json } from '../kit/wire/json-line.ts';
import { addUsage } from '../kit/wire/usage.ts';
import { noUsage } from '../port.ts';

/** A message for the conversation. `command_lifecycle` returns its uuid. */
export function userMessage(uuid: string, content: string): Json {
  return {
    type: 'user',
    message: { role: 'user', content },
    parent_tool_use_id: null,
    session_id: '',
    uuid,
    priority: 'next',
  };
}

/**
 * Ends the running turn and drops queued messages, which would otherwise start the next one at
 * once.
 */
export function interrupt(requestId: string): Json {
  return {
    type: 'control_request',
    request_id: requestId,
    request: { subtype: 'interrupt', cancel_queued: true },
  };
}

export function controlSuccess(requestId: string, response: Json): Json {
  return {
    type: 'control_response',
    response: { subtype: 'success', request_id: requestId, response },
  };
}

export function controlError(requestId: string, error: string): Json {
  return {
    type: 'control_response',
    response: {
      subtype: 'error',
      request_id: requestId,
      error,
      error_code: 'unsupported_request',
    },
  };
}

/** The usage since the previous result. The totals beside it also include other processes. */
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
