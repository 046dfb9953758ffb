// The outcome of a run of Amp, decided by its result line. Its errors have no codes, so fixed
// sentences in its error field (never in the model's text) determine their kind. An unknown error
// counts as an ordinary failure.

import { failure, type Failure } from '../../core/failure.ts';
import type { AgentOutcome } from '../port.ts';
import type { AgentExit } from '../kit/process/spawn.ts';
import {
  outcomeDetail,
  failed,
  finalFailure,
  outcomeSummary,
  timedOut,
  withoutCredit,
} from '../kit/run/outcomes.ts';
import { lastLine } from '../kit/wire/text-tail.ts';
import type { AmpResult } from './translate.ts';

export interface AmpEnd {
  readonly why: 'exited' | 'finished' | 'stopped' | 'timeout' | 'stalled' | 'auth';
  readonly exit: AgentExit;
  readonly result: AmpResult | null;
  /** Its protocol has started. From then on, its other output may be anything. */
  readonly hasStarted: boolean;
  /** Output outside of the protocol, in which it explains why it did not start. */
  readonly plainTail: string;
  /** It was planning, so its last message is the plan. */
  readonly planning: boolean;
  readonly timeoutMs: number | null;
  readonly silentMs: number;
}

const creditText =
  /out of credits|amp credit balance is low|in available credits to start|insufficient[- ]credits/i;
const limitText =
  /reached your free usage limit|exceeded your usage (quota|limit)|rate[- _]limit|too many requests|\b429\b/i;
const signInText = /login failed|unauthori[sz]ed|authentication required|invalid api key|\b401\b/i;
const overloadText =
  /overload|couldn't connect to the amp server|cannot reach amp servers|network error|fetch failed|\b(502|503|504|529)\b/i;
const approvalText = /require user approval|requires approval/i;
const signalText = /^user cancelled\b/i;
const errorCharsMax = 500;

export function ampOutcome(end: AmpEnd): AgentOutcome {
  switch (end.why) {
    case 'stopped':
      return { kind: 'stopped' };
    case 'timeout': {
      // An error beside a successful result only reflects our own signal.
      if (end.result?.isError === false) return byResult(end.result, end);
      return timedOut('Amp', end.timeoutMs, outcomeDetail(end.plainTail));
    }
    case 'stalled': {
      const seconds = Math.round(end.silentMs / 1000);
      return failed(
        failure('agent_stalled', `Amp sent no output for ${seconds} s and was stopped.`),
      );
    }
    case 'auth':
      return failed(authFailure());
    case 'finished':
    case 'exited':
      return end.result === null ? withoutResult(end) : byResult(end.result, end);
  }
}

/** Another program sent it a signal, so its work was interrupted. */
export function wasInterrupted(result: AmpResult): boolean {
  return result.isError && signalText.test(result.text);
}

function byResult(result: AmpResult, end: AmpEnd): AgentOutcome {
  if (!result.isError) {
    return {
      kind: 'done',
      summary: outcomeSummary(result.text, end),
      deniedTools: result.deniedTools,
    };
  }
  const text = (result.text || result.subtype || 'unknown error').slice(0, errorCharsMax);
  if (result.subtype === 'error_max_turns') {
    return failed(failure('agent_limit', `Amp reached its limit of turns for one run: ${text}`));
  }
  if (wasInterrupted(result)) {
    return failed(failure('agent_failed', 'Another program interrupted the run of Amp.'));
  }
  if (approvalText.test(text)) {
    const message = `Amp is waiting for an approval that it cannot get in this mode (${text}). Allow it in amp.permissions of its settings, or set [agent] permission_mode = "bypassPermissions".`;
    return failed(finalFailure(failure('agent_failed', message)));
  }
  return (
    byKnownError(text) ??
    failed(failure('agent_failed', `Amp failed: ${text}`, outcomeDetail(end.plainTail)))
  );
}

/**
 * It never started, was killed or crashed. Only its output outside of the protocol can explain why.
 */
function withoutResult(end: AmpEnd): AgentOutcome {
  const { code, signal } = end.exit;
  const how =
    code === null
      ? `was killed${signal === null ? '' : ` by ${signal}`}`
      : code > 128
        ? `was killed by signal ${code - 128}`
        : `ended with exit code ${code}`;
  const last = lastLine(end.plainTail).trim().slice(0, errorCharsMax);
  const said = end.hasStarted || code === null || code > 128 ? null : byKnownError(end.plainTail);
  if (said !== null) return said;
  const why = last === '' ? '' : `: ${last}`;
  return failed(
    failure('agent_failed', `Amp ${how} without a result${why}`, outcomeDetail(end.plainTail)),
  );
}

function byKnownError(text: string): AgentOutcome | null {
  const short = text.trim().slice(-errorCharsMax);
  if (creditText.test(text)) return withoutCredit('Amp', short);
  if (signInText.test(text)) return failed(authFailure(short));
  if (limitText.test(text)) return { kind: 'limited', untilMs: null, message: short };
  if (overloadText.test(text)) {
    const message = `Amp's server or the model's provider is overloaded or cannot be reached: ${short}`;
    return failed(failure('agent_overloaded', message));
  }
  return null;
}

function authFailure(detail?: string): Failure {
  const message = `Amp is not signed in, or its key is refused: run "amp login", or set AMP_API_KEY.`;
  return failure('agent_auth', message, detail);
}
