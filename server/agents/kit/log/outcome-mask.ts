// Removes secrets from a run's outcome, whose text becomes part of rows, events and other agents'
// prompts.

import type { Mask } from './masking.ts';
import type { AgentOutcome } from '../../port.ts';

export function maskOutcome(outcome: AgentOutcome, mask: Mask): AgentOutcome {
  switch (outcome.kind) {
    case 'done': {
      const { blockedReason } = outcome;
      const masked = { ...outcome, summary: mask(outcome.summary) };
      return blockedReason === undefined
        ? masked
        : { ...masked, blockedReason: mask(blockedReason) };
    }
    case 'failed': {
      const { message, detail } = outcome.failure;
      const masked = { ...outcome.failure, message: mask(message) };
      return {
        kind: 'failed',
        failure: detail === undefined ? masked : { ...masked, detail: mask(detail) },
      };
    }
    case 'limited':
      return { ...outcome, message: mask(outcome.message) };
    case 'stopped':
      return outcome;
  }
}
