// Recognizes an agent whose program ended before it could work, because it is missing or cannot be
// executed.

import { failure } from '../../../core/failure.ts';
import type { AgentOutcome } from '../../port.ts';
import { readLogTail } from '../log/event-log-reader.ts';

/** POSIX shells use these exit codes if a program cannot be executed or was not found. */
const startFailureCodes: ReadonlySet<number> = new Set([126, 127]);
/** Bubblewrap reports the same with this code and a line of this form. */
const sandboxFailureCode = 1;
const sandboxFailureText = /^bwrap: execvp /mu;
const tailEvents = 20;

/**
 * Every attempt would fail in the same way until a person fixes the program. Any output other than
 * standard error shows that the agent had started.
 */
export function asNeverStarted(outcome: AgentOutcome, logPath: string): AgentOutcome {
  if (outcome.kind !== 'failed' || outcome.failure.kind !== 'agent_failed') return outcome;
  const { events } = readLogTail(logPath, tailEvents);
  let [code, printed]: [number | null, string] = [null, ''];
  for (const event of events) {
    if (event.type === 'exit') code = event.code;
    else if (event.type === 'output' && event.stream === 'stderr') printed += `${event.text}\n`;
    else if (event.type !== 'started' && event.type !== 'note') return outcome;
  }
  const { message, detail = printed } = outcome.failure;
  const isSandbox = code === sandboxFailureCode && sandboxFailureText.test(detail);
  if (code === null || !(startFailureCodes.has(code) || isSandbox)) return outcome;
  const reason = message.replace(/\.$/u, '');
  const sentence = `The agent program could not be started: ${reason}. Check that it is installed, that its path is right, and that it can be executed.`;
  return { kind: 'failed', failure: failure('agent_missing', sentence, detail) };
}
