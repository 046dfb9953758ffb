// Makes a task start over: its attempts no longer count, and results of earlier ones are cleared
// from its row.

import type { TransitionSet } from './transition.ts';
import type { Tx } from '../schema/tables.ts';

/** The columns of a task that starts over after its attempt `last` (0 = it had none). */
export function freshFields(last: number): TransitionSet {
  return {
    attempts: 0,
    // The first agent gets the task again.
    fallback_from: last,
    next_attempt_at_ms: null,
    blocked_reason: null,
    blocked_by: null,
    held_files: '[]',
    conflict_files: '[]',
    landed_sha: null,
    landed_on: null,
  };
}

/**
 * A task that its blockers still hold starts over when they are done. An external cause no longer
 * holds it.
 */
export async function freshenBlocked(tx: Tx, id: string, last: number): Promise<void> {
  await tx.updateTable('tasks').set(freshFields(last)).where('id', '=', id).execute();
}
