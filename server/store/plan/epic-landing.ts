// The landing of an epic as a whole, from its row: the tested commit, the person's decision and the
// result.

import type { Reads, Tx } from '../schema/tables.ts';

/** Approves the tree that the person has seen. */
export async function approveEpicTree(tx: Tx, id: string, tree: string): Promise<void> {
  await tx.updateTable('epics').set({ approved_tree: tree }).where('id', '=', id).execute();
}

/**
 * Records that a person wants more work before the epic lands. An earlier approval no longer
 * counts.
 */
export async function sendEpicBack(tx: Tx, id: string, note: string): Promise<void> {
  await tx
    .updateTable('epics')
    .set({
      landing_state: 'sent_back',
      landing_note: note,
      approved_tree: null,
      review_tree: null,
    })
    .where('id', '=', id)
    .execute();
}

/** Marks the epic as landed on its target as `sha`, or null if a person merged it by hand. */
export async function markEpicLanded(tx: Tx, id: string, sha: string | null): Promise<void> {
  await tx
    .updateTable('epics')
    .set({ landing_state: 'landed', landing_note: null })
    .$if(sha !== null, (query) => query.set({ landed_sha: sha }))
    .where('id', '=', id)
    .execute();
}

/** Records why the epic did not land, and the tree that waits for an approval. */
export async function endEpicLanding(
  tx: Tx,
  id: string,
  end: {
    readonly state: 'conflict' | 'gate_failed' | 'needs_review' | 'pull_request';
    readonly note: string;
    readonly reviewTree: string | null;
  },
): Promise<void> {
  await tx
    .updateTable('epics')
    .set({ landing_state: end.state, landing_note: end.note, review_tree: end.reviewTree })
    .where('id', '=', id)
    .execute();
}

/** True if a completed task has landed on the line. */
export async function holdsLandedWork(db: Reads, line: string): Promise<boolean> {
  const row = await db
    .selectFrom('tasks')
    .select('id')
    .where('status', '=', 'completed')
    .where('landed_on', '=', line)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
