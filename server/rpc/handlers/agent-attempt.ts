// Whose request it is: the attempt that a token stands for must be at work in this very moment, and has asked for no more
// than it may.

import { Refusal } from '../../core/failure.ts';
import { type AttemptRow, lastAttempt, type TaskRow } from '../../store/port.ts';
import type { Db } from '../../store/read.ts';
import type { AgentScope } from '../../workflows/engine.ts';

export interface AttemptAtWork {
  readonly task: TaskRow;
  readonly attempt: AttemptRow;
}

/** Refuses what comes from an agent whose attempt is over, or has been taken up anew. */
export async function attemptAtWork(db: Db, scope: AgentScope): Promise<AttemptAtWork> {
  const task = await db
    .selectFrom('tasks')
    .selectAll()
    .where('id', '=', scope.taskId)
    .executeTakeFirst();
  const attempt = await lastAttempt(db, scope.taskId);
  const isAtWork =
    task !== undefined &&
    attempt !== null &&
    task.status === 'in_progress' &&
    task.epoch === scope.epoch &&
    attempt.number === scope.attempt &&
    attempt.state === 'running' &&
    attempt.pid_part === scope.part;
  if (isAtWork) return { task, attempt };
  throw new Refusal(
    'attempt_over',
    `Attempt ${scope.attempt} of ${scope.taskId} is not at work any more: nothing is taken from its agent.`,
  );
}

/** How often this has happened in the attempt, or in its whole run. */
export async function countEvents(
  db: Db,
  type: 'agent.added' | 'agent.blocked',
  of: { readonly taskId: string; readonly attempt: number } | { readonly runId: string },
): Promise<number> {
  const base = db.selectFrom('events').select('data').where('type', '=', type);
  const rows =
    'runId' in of
      ? await base.where('run_id', '=', of.runId).execute()
      : await base.where('task_id', '=', of.taskId).execute();
  if ('runId' in of) return rows.length;
  return rows.filter(({ data }) => {
    const { attempt } = JSON.parse(data) as { attempt?: unknown };
    return attempt === of.attempt;
  }).length;
}

/** A text that an agent has sent, not longer than it may be. */
export function boundedText(text: string, name: string, charactersMax: number): string {
  if (text.trim() === '') throw new Refusal('bad_value', `${name} is blank; say something.`);
  return notLonger(text, name, charactersMax);
}

export function notLonger(text: string, name: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text;
  throw new Refusal(
    'too_long',
    `${name} has ${text.length} characters, ${charactersMax} are allowed; say it shorter.`,
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
