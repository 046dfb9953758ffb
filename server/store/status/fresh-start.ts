// A task starts over: its attempts no longer count, and the results of earlier ones in its row are
// cleared.

import type { TransitionSet } from './transition.ts';
import type { Tx } from '../schema/tables.ts';

/** The row of a task that starts over after its attempt `last` (0: it had none). */
export function freshFields(last: number): TransitionSet {
  return {
    attempts: 0,
    // The first agent has it again.
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
 * A task that its blockers still hold starts over when they are done; nothing outside holds it any
 * more.
 */
export async function freshenBlocked(tx: Tx, id: string, last: number): Promise<void> {
  await tx.updateTable('tasks').set(freshFields(last)).where('id', '=', id).execute();
}
