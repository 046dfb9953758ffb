// Which step of its attempt a task is at, according to its row.

import type { Phase } from '../../core/plan/task.ts';
import { byHandPhase } from '../../core/plan/task.ts';
import type { Tx } from '../schema/tables.ts';

/**
 * The owner of a task enters the next step of its attempt; false when it does not own the task any
 * more.
 */
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

/** A person works in the worktree of the paused task. */
export async function takeByHand(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ phase: byHandPhase })
    .where('id', '=', id)
    .where('status', '=', 'paused')
    .execute();
}

/** Work that a person has approved is on its way into its line. */
export async function beginApprovedLanding(tx: Tx, id: string): Promise<void> {
  await tx.updateTable('tasks').set({ phase: 'land' }).where('id', '=', id).execute();
}

/**
 * Approved work could not land: the task waits for a person again, with the reason if it is known.
 */
export async function endApprovedLanding(tx: Tx, id: string, reason: string | null): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ phase: null, last_error: reason })
    .where('id', '=', id)
    .execute();
}
