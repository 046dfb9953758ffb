// Finished work that a git server did not take.

import type { Reads } from '../schema/tables.ts';

/**
 * One refusal may be about the work itself; with as many tasks the server has a rule that the next
 * one would meet too.
 */
export const refusedPushesMax = 2;

/** Tasks that are blocked because a git server did not take their finished work. */
export async function refusedPushes(
  db: Reads,
  epicId: string | null,
): Promise<readonly { readonly id: string; readonly blocked_reason: string | null }[]> {
  return db
    .selectFrom('tasks')
    .innerJoin('attempts', 'attempts.task_id', 'tasks.id')
    .select(['tasks.id', 'tasks.blocked_reason'])
    .where('tasks.status', '=', 'blocked')
    .where('tasks.blocked_reason', 'is not', null)
    .where('attempts.failure_kind', '=', 'push_refused')
    .where('attempts.state', '=', 'interrupted')
    .$if(epicId !== null, (query) => query.where('tasks.epic_id', '=', epicId))
    .orderBy('tasks.position')
    .execute();
}
