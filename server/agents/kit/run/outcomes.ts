// Outcomes that several kinds of agents share, with the same messages.

import { failure, type Failure } from '../../../core/failure.ts';
import { formatDuration } from '../../../core/format.ts';
import { boundedPlan } from '../../../core/prompt/plan-prompt.ts';
import type { AgentOutcome, AgentRequest } from '../../port.ts';
import type { AgentExit } from '../process/spawn.ts';
import { lastLine } from '../wire/text-tail.ts';

const summaryCharsMax = 2_000;
const detailCharsMax = 4_000;

export function failed(cause: Failure): AgentOutcome {
  return { kind: 'failed', failure: cause };
}

/** Another try with the same agent would end in the same way. */
export function finalFailure(found: Failure): Failure {
  return { ...found, retryable: false };
}

export function timedOut(title: string, timeoutMs: number | null, detail?: string): AgentOutcome {
  const limit = formatDuration(timeoutMs ?? 0);
  const message = `${title} was stopped after ${limit}, the limit for one attempt (task_timeout).`;
  return failed(failure('timeout', message, detail));
}

export function overloaded(said: string): AgentOutcome {
  const message = `The model's provider is overloaded or cannot be reached: ${said}`;
  return failed(failure('agent_overloaded', message));
}

export function withoutCredit(title: string, said: string): AgentOutcome {
  return failed(failure('agent_billing', `The account of ${title} has no credit: ${said}`));
}

/**
 * The agent was killed, crashed or refused to start. Only its output outside of the protocol can
 * explain why.
 */
export function endedEarly(
  title: string,
  exit: AgentExit,
  instead: string,
  printed: string,
): AgentOutcome {
  const { code, signal } = exit;
  const bySignal = signal === null ? '' : ` by ${signal}`;
  const how = code === null ? `was killed${bySignal}` : `ended with exit code ${code}`;
  const last = lastLine(printed);
  const why = last === '' ? '' : `: ${last}`;
  return failed(
    failure('agent_failed', `${title} ${how} ${instead}${why}`, outcomeDetail(printed)),
  );
}

/** Its final message or its plan, of which more is kept. */
export function outcomeSummary(said: string, { planning }: Pick<AgentRequest, 'planning'>): string {
  return planning === true ? boundedPlan(said) : said.trim().slice(0, summaryCharsMax);
}

/** The evidence for a failure. */
export function outcomeDetail(printed: string): string {
  return printed.slice(-detailCharsMax);
}
