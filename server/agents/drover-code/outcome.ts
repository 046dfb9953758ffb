// The outcome of a run of Drover Code: the exit code and the result file decide; the output only
// explains.

import { failure, type Failure } from '../../core/failure.ts';
import type { AgentOutcome } from '../port.ts';
import type { LogFacts } from '../kit/log/log-facts.ts';
import type { AgentExit } from '../kit/process/spawn.ts';
import {
  outcomeDetail,
  failed,
  finalFailure,
  outcomeSummary,
  timedOut,
} from '../kit/run/outcomes.ts';
import { lastLine } from '../kit/wire/text-tail.ts';
import type { ReadResult } from './result-file.ts';

export interface HeadlessEnd {
  readonly why: 'exited' | 'stopped' | 'timeout' | 'turn_cap';
  readonly exit: AgentExit;
  readonly result: ReadResult;
  readonly timeoutMs: number | null;
  readonly turnsMax: number;
  /** Whether anything changed in the worktree. Null if unknown. */
  readonly hasChanges: boolean | null;
  /**
   * If true, its final message is a plan: no change was needed, and more of the message is kept.
   */
  readonly planning?: boolean;
}

type RunClass =
  | 'succeeded'
  | 'failed'
  | 'config'
  | 'limit'
  | 'transient'
  | 'policy_denied'
  | 'crashed'
  | 'unknown';

const transientText =
  /api error 5\d\d|\b529\b|overloaded|no such host|\bEOF\b|\b429\b|rate limit|connection (reset|refused)|broken pipe/i;
const noKeyText = /set ANTHROPIC_API_KEY/;
const refusedKeyText = /api error 40[13]\b|authentication_error|invalid x-api-key/i;

export function headlessOutcome(facts: LogFacts, end: HeadlessEnd): AgentOutcome {
  switch (end.why) {
    case 'stopped':
      return { kind: 'stopped' };
    case 'timeout':
      return timedOut('Drover Code', end.timeoutMs, evidenceOf(facts));
    case 'turn_cap': {
      const message = `Drover Code was stopped after ${end.turnsMax} turns, the limit for one run.`;
      return failed(finalFailure(failure('agent_limit', message, evidenceOf(facts))));
    }
    case 'exited': {
      const found = classifyRun(facts, end);
      const isPlan = end.planning === true && found === 'policy_denied' && end.exit.code === 0;
      if (found !== 'succeeded' && !isPlan) return failed(failureOf(found, facts, end));
      const { summary, deniedTools } = facts;
      return { kind: 'done', summary: outcomeSummary(summary, end), deniedTools };
    }
  }
}

export function classifyRun(
  facts: LogFacts,
  end: Pick<HeadlessEnd, 'exit' | 'result' | 'hasChanges'>,
): RunClass {
  switch (end.exit.code) {
    case null:
      return 'crashed';
    case 0:
      if (end.result.kind !== 'result') return 'unknown';
      if (!end.result.result.ok) return 'failed';
      return facts.deniedTools.length > 0 && end.hasChanges === false
        ? 'policy_denied'
        : 'succeeded';
    case 1:
      return transientText.test(errorOf(end.result)) ? 'transient' : 'failed';
    case 2:
      return 'config';
    case 3: // only documented; the program has never returned it
      return 'policy_denied';
    case 4:
      return 'limit';
    case 5:
      return 'transient';
    default:
      return end.exit.code > 128 ? 'crashed' : 'failed';
  }
}

function failureOf(
  found: Exclude<RunClass, 'succeeded'>,
  facts: LogFacts,
  end: HeadlessEnd,
): Failure {
  const error = errorOf(end.result).slice(0, 500);
  const because = error === '' ? '' : `: ${error}`;
  const detail = evidenceOf(facts);
  switch (found) {
    case 'failed': {
      if (refusedKeyText.test(error)) return keyFailure(error);
      return failure(
        'agent_failed',
        `Drover Code failed (${howEnded(end.exit)})${because}`,
        detail,
      );
    }
    case 'config': {
      if (noKeyText.test(facts.stderrTail)) return keyFailure('no key is set');
      const said = error === '' ? lastLine(facts.stderrTail) : error;
      const message = `Drover Code was not started correctly (exit code 2): ${said || 'it gave no reason'}`;
      return finalFailure(failure('agent_failed', message, detail));
    }
    case 'limit': {
      const isTime = /timeout|deadline/i.test(error);
      const message = `Drover Code used up ${isTime ? 'its time' : 'the tokens of one run'} (exit code 4)${because}`;
      return finalFailure(failure(isTime ? 'timeout' : 'agent_limit', message, detail));
    }
    case 'transient': {
      const message = `The model's provider is overloaded or cannot be reached${because}`;
      return failure('agent_overloaded', message, detail);
    }
    case 'policy_denied': {
      const tools = facts.deniedTools.join(', ') || 'a tool';
      const message = `Drover Code's policy refused ${tools}, and nothing was changed: allow it, or change the task.`;
      return finalFailure(failure('agent_failed', message, detail));
    }
    case 'crashed':
      return failure('agent_failed', `Drover Code ${howEnded(end.exit)} before its end.`, detail);
    case 'unknown': {
      const why =
        end.result.kind === 'unreadable'
          ? `its result file cannot be used: ${end.result.reason}`
          : 'it left no result file';
      const message = `Drover Code ended with exit code 0, but ${why}; so its work counts as unknown.`;
      return failure('agent_failed', message, detail);
    }
  }
}

export function keyFailure(reason: string): Failure {
  const message = `Drover Code has no usable key (${reason}): set ANTHROPIC_API_KEY, in VS Code with "Drover: Set API Key".`;
  return failure('agent_auth', message);
}

function errorOf(result: ReadResult): string {
  return result.kind === 'result' ? result.result.error : '';
}

function howEnded(exit: AgentExit): string {
  if (exit.code === null) return `was killed${exit.signal === null ? '' : ` by ${exit.signal}`}`;
  return exit.code > 128 ? `was killed by signal ${exit.code - 128}` : `exit code ${exit.code}`;
}

/** Its output and its final message both explain its end. */
function evidenceOf({ stderrTail, summary }: LogFacts): string {
  return outcomeDetail(`${stderrTail}${summary}`);
}
