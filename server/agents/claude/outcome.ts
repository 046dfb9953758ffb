// The outcome of a run of Claude Code. The exit code, `subtype` and the result are each
// insufficient alone.

import { failure, type Failure } from '../../core/failure.ts';
import type { AgentOutcome } from '../port.ts';
import type { AgentExit } from '../kit/process/spawn.ts';
import {
  outcomeDetail,
  endedEarly,
  failed,
  overloaded,
  outcomeSummary,
  timedOut,
  withoutCredit,
} from '../kit/run/outcomes.ts';
import type { ClaudeFacts } from './translate.ts';
import { numberAt, objectsAt, textAt, type Json } from '../kit/wire/json-line.ts';

/** Why we stopped it. `exited`: it ended by itself or after its last result. */
export type ClaudeEnd = 'exited' | 'stopped' | 'timeout' | 'stalled' | 'auth' | 'limited';

export interface EndFacts {
  readonly why: ClaudeEnd;
  readonly exit: AgentExit;
  readonly stderrTail: string;
  readonly timeoutMs: number | null;
  readonly silentMs: number;
  /** Known if a retry announced a long wait. */
  readonly limitUntilMs: number | null;
  /** If true, its final message is a plan, and more of it is kept. */
  readonly planning?: boolean;
}

const title = 'Claude Code';

/** Retries that wait longer mean that the account is at its limit. */
const longRetryMs = 60_000;

/**
 * The outcome if the program must end because retries cannot help or would wait too long. Returns
 * null to keep waiting.
 */
export function endByRetry(
  status: number | null,
  delayMs: number,
  error: string,
): 'auth' | 'limited' | null {
  // With an invalid key every retry fails too, which takes minutes.
  if (status === 401) return 'auth';
  const isLimit = status === 429 || error === 'rate_limit';
  return isLimit && delayMs > longRetryMs ? 'limited' : null;
}

export function claudeOutcome(facts: ClaudeFacts, end: EndFacts): AgentOutcome {
  switch (end.why) {
    case 'stopped':
      return { kind: 'stopped' };
    case 'timeout':
      return timedOut(title, end.timeoutMs);
    case 'stalled': {
      const seconds = Math.round(end.silentMs / 1000);
      const message = `The model's provider sent no response for ${seconds} s, so Claude Code was stopped.`;
      return failed(failure('agent_stalled', message));
    }
    case 'auth':
      return failed(authFailure(''));
    case 'limited':
      return limited(facts, end.limitUntilMs);
    case 'exited':
      return facts.result === null
        ? endedEarly(title, end.exit, 'without a result', end.stderrTail)
        : byResult(facts, facts.result, end);
  }
}

function byResult(facts: ClaudeFacts, result: Json, end: EndFacts): AgentOutcome {
  const reason = textAt(result, 'terminal_reason') ?? '';
  if (reason.startsWith('aborted')) {
    return failed(failure('agent_failed', 'Another program interrupted the turn of Claude Code.'));
  }
  const subtype = textAt(result, 'subtype');
  if (subtype === 'error_max_turns' || subtype === 'error_max_budget_usd') {
    const what = subtype === 'error_max_turns' ? 'turns' : 'money';
    const message = `Claude Code used up the ${what} of this attempt.`;
    return failed(failure('agent_limit', message, errorText(result)));
  }
  if (result['is_error'] === true) return errorOutcome(facts, result, end);
  const denied = objectsAt(result, 'permission_denials').map(
    (one) => textAt(one, 'tool_name') ?? 'a tool',
  );
  const said = textAt(result, 'result') ?? '';
  const summary = outcomeSummary(end.planning === true ? (facts.plan ?? said) : said, end);
  return { kind: 'done', summary, deniedTools: [...new Set(denied)] };
}

/** Checks the status first, because the message calls an overload a server error. */
function errorOutcome(facts: ClaudeFacts, result: Json, end: EndFacts): AgentOutcome {
  const status = numberAt(result, 'api_error_status');
  const error = facts.apiError === null ? null : textAt(facts.apiError, 'error');
  const text = errorText(result);
  if (error === 'billing_error') {
    return withoutCredit(title, text);
  }
  const isAuth = error === 'authentication_failed' || status === 401 || status === 403;
  if (isAuth) return failed(authFailure(text));
  if (facts.isLimitRejected || status === 429 || error === 'rate_limit') {
    return limited(facts, end.limitUntilMs, text);
  }
  const isOverload =
    (status !== null && status >= 500) ||
    error === 'overloaded' ||
    error === 'server_error' ||
    textAt(result, 'api_error') === 'connection_failed';
  if (isOverload) return overloaded(text);
  return failed(
    failure('agent_failed', `Claude Code failed: ${text}`, outcomeDetail(end.stderrTail)),
  );
}

function authFailure(text: string): Failure {
  const said = text === '' ? '' : ` (${text})`;
  return failure(
    'agent_auth',
    `Claude Code is not signed in, or its key was rejected${said}. Run "claude" and /login, or set ANTHROPIC_API_KEY.`,
  );
}

function limited(facts: ClaudeFacts, untilMs: number | null, text = ''): AgentOutcome {
  const message = text === '' ? 'The account has reached its usage limit.' : text;
  return { kind: 'limited', untilMs: facts.limitUntilMs ?? untilMs, message };
}

function errorText(result: Json): string {
  const errors = result['errors'];
  const listed = Array.isArray(errors)
    ? errors.filter((one): one is string => typeof one === 'string')
    : [];
  const text = textAt(result, 'result') ?? listed.join('; ');
  return (text === '' ? (textAt(result, 'subtype') ?? 'unknown error') : text).slice(0, 500);
}
