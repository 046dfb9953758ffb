// The outcome of a turn over the Agent Client Protocol. The end of a turn does not prove success
// (one agent reports an invalid key as a normal end), so the engine checks the worktree.

import { failure } from '../../core/failure.ts';
import type { AgentOutcome } from '../port.ts';
import type { AgentExit } from '../kit/process/spawn.ts';
import {
  outcomeDetail,
  endedEarly,
  failed,
  overloaded,
  timedOut,
  withoutCredit,
} from '../kit/run/outcomes.ts';

/** An error response by the agent. */
export interface AcpError {
  readonly code: number;
  readonly message: string;
  /** An HTTP status in the error's data. */
  readonly status: number | null;
}

export interface AcpFacts {
  readonly stopReason: string | null;
  readonly error: AcpError | null;
  readonly summary: string;
  readonly deniedTools: readonly string[];
}

export interface AcpEnd {
  readonly title: string;
  readonly install: string;
  readonly why: 'exited' | 'finished' | 'stopped' | 'timeout' | 'stalled';
  readonly exit: AgentExit;
  readonly stderrTail: string;
  readonly timeoutMs: number | null;
  readonly silentMs: number;
}

/** The JSON-RPC error code by which an agent reports that no user is signed in. */
const authRequired = -32_000;

export function acpOutcome(facts: AcpFacts, end: AcpEnd): AgentOutcome {
  switch (end.why) {
    case 'stopped':
      return { kind: 'stopped' };
    case 'timeout':
      return timedOut(end.title, end.timeoutMs);
    case 'stalled': {
      const seconds = Math.round(end.silentMs / 1000);
      return failed(
        failure('agent_stalled', `${end.title} sent no output for ${seconds} s and was stopped.`),
      );
    }
    case 'finished':
    case 'exited':
      return byFacts(facts, end);
  }
}

function byFacts(facts: AcpFacts, end: AcpEnd): AgentOutcome {
  if (facts.error !== null) return byError(facts.error, end);
  switch (facts.stopReason) {
    case 'end_turn':
      return { kind: 'done', summary: facts.summary, deniedTools: facts.deniedTools };
    case 'max_tokens':
    case 'max_turn_requests':
      return failed(
        failure('agent_limit', `${end.title} reached the limit of one turn (${facts.stopReason}).`),
      );
    case 'refusal':
      return failed(failure('agent_failed', `${end.title} refused the task.`, facts.summary));
    case 'cancelled':
      return failed(
        failure('agent_failed', `The turn of ${end.title} was canceled by another program.`),
      );
    case null:
      return endedEarly(end.title, end.exit, 'before its turn was over', end.stderrTail);
    default:
      return failed(
        failure('agent_failed', `${end.title} ended its turn with "${facts.stopReason}".`),
      );
  }
}

function byError(error: AcpError, end: AcpEnd): AgentOutcome {
  const status = error.status ?? (error.code >= 100 && error.code < 600 ? error.code : null);
  if (error.code === authRequired || status === 401 || status === 403) {
    const message = `${end.title} is not signed in, or its key is refused (${error.message}): sign in with the agent's own program, or set its key in the environment.`;
    return failed(failure('agent_auth', message));
  }
  if (status === 402) return withoutCredit(end.title, error.message);
  if (status === 429) return { kind: 'limited', untilMs: null, message: error.message };
  if (status !== null && status >= 500) return overloaded(error.message);
  const detail = outcomeDetail(end.stderrTail);
  return failed(failure('agent_failed', `${end.title} failed: ${error.message}`, detail));
}
