// Checks an agent's request: the attempt of its token must be running now, and must be within its
// limits.

import { Refusal } from '../../core/failure.ts';
import {
  type AttemptRow,
  lastAttempt,
  type Reads,
  taskById,
  type TaskRow,
} from '../../store/port.ts';
import type { AgentScope } from '../../workflows/kit/engine-ports.ts';

export interface AttemptAtWork {
  readonly task: TaskRow;
  readonly attempt: AttemptRow;
}

/** Refuses a request from an agent whose attempt has ended or was resumed by another agent. */
export async function attemptAtWork(db: Reads, scope: AgentScope): Promise<AttemptAtWork> {
  const task = await taskById(db, scope.taskId);
  const attempt = await lastAttempt(db, scope.taskId);
  const isAtWork =
    task !== null &&
    attempt !== null &&
    task.status === 'in_progress' &&
    task.epoch === scope.epoch &&
    attempt.number === scope.attempt &&
    attempt.state === 'running' &&
    attempt.pid_part === scope.part;
  if (isAtWork) return { task, attempt };
  throw new Refusal(
    'attempt_over',
    `Attempt ${scope.attempt} of ${scope.taskId} is no longer running, so its agent's request was refused.`,
  );
}

/** Returns an agent's text, which must not exceed the limit. */
export function boundedText(text: string, name: string, charactersMax: number): string {
  if (text.trim() === '') throw new Refusal('bad_value', `${name} must not be empty.`);
  return notLonger(text, name, charactersMax);
}

export function notLonger(text: string, name: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  throw new Refusal(
    'too_long',
    `${name} has ${text.length} characters; the limit is ${charactersMax}. Shorten it.`,
  );
}

export function notMore(
  list: readonly string[],
  name: string,
  bounds: { readonly items: number; readonly characters: number },
): readonly string[] {
  if (list.length > bounds.items) {
    throw new Refusal(
      'too_many',
      `${name} has ${list.length} entries, ${bounds.items} are allowed; leave some out.`,
    );
  }
  for (const item of list) notLonger(item, `An entry of ${name}`, bounds.characters);
  return list;
}
