// Stop requests, by a person or by the end of a run, to the workflow that owns a task. They are
// written in its row and carried out by the workflow.

import { inParts } from '../rows/one-moment.ts';
import type { Reads, Tx } from '../schema/tables.ts';
import type { StopKind } from '../schema/column-values.ts';

/**
 * Asks a task's owner to stop. Resolves with the owner's epoch. Resolves with null if no workflow
 * owns the task, or if a person has already made another request, which the end of a run (`stop`)
 * never replaces.
 */
export async function askToStop(
  tx: Tx,
  id: string,
  kind: StopKind,
  reason: string | null,
): Promise<number | null> {
  const asked = await tx
    .updateTable('tasks')
    .set({ stop_requested: kind, stop_reason: reason })
    .where('id', '=', id)
    .where((eb) =>
      eb.or([
        eb('status', 'in', ['claimed', 'in_progress']),
        eb.and([eb('status', '=', 'needs_review'), eb('phase', '=', 'land')]),
      ]),
    )
    .$if(kind === 'stop', (query) => query.where('stop_requested', 'is', null))
    .returning('epoch')
    .executeTakeFirst();
  return asked?.epoch ?? null;
}

/** Returns the tasks with a pending stop request, with the epochs of their owners. */
export async function askedToStop(
  db: Reads,
  ids: readonly string[],
): Promise<readonly { readonly id: string; readonly epoch: number }[]> {
  const found: { readonly id: string; readonly epoch: number }[] = [];
  for (const part of inParts(ids)) {
    const rows = await db
      .selectFrom('tasks')
      .select(['id', 'epoch'])
      .where('id', 'in', [...part])
      .where('stop_requested', 'is not', null)
      .execute();
    found.push(...rows);
  }
  return found;
}
