// The phase of its attempt that a task is in, according to its row.

import type { Phase } from '../../core/plan/task.ts';
import { byHandPhase } from '../../core/plan/task.ts';
import type { Tx } from '../schema/tables.ts';

/** Moves a task to the next phase of its attempt. Returns false if the caller no longer owns it. */
export async function enterOwnedPhase(
  tx: Tx,
  owner: { readonly taskId: string; readonly epoch: number },
  phase: Phase,
): Promise<boolean> {
  const updated = await tx
    .updateTable('tasks')
    .set({ phase })
    .where('id', '=', owner.taskId)
    .where('epoch', '=', owner.epoch)
    .where('status', 'in', ['claimed', 'in_progress'])
    .returning('id')
    .executeTakeFirst();
  return updated !== undefined;
}

/** Records that a person works in the paused task's worktree. */
export async function takeByHand(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ phase: byHandPhase })
    .where('id', '=', id)
    .where('status', '=', 'paused')
    .execute();
}

/** Records that approved work is being landed. */
export async function beginApprovedLanding(tx: Tx, id: string): Promise<void> {
  await tx.updateTable('tasks').set({ phase: 'land' }).where('id', '=', id).execute();
}

/**
 * Records that approved work could not land: the task waits for a person again, with the reason if
 * known.
 */
export async function endApprovedLanding(tx: Tx, id: string, reason: string | null): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ phase: null, last_error: reason })
    .where('id', '=', id)
    .execute();
}
