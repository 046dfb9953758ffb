// Finished work that a git server refused.

import type { Reads } from '../schema/tables.ts';

/**
 * A single refusal may be caused by the work itself. With this many, the server has a rule that
 * would refuse the next task too.
 */
export const refusedPushesMax = 2;

/** Tasks that are blocked because a git server refused their finished work. */
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
