// Reorders epics, and removes one from the plan.

import { Refusal } from '../../core/failure.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import { epicOrRefuse } from '../rows/find-rows.ts';
import type { EpicRow, Tx } from '../schema/tables.ts';

/**
 * Moves an epic before another one or to the end. There are few enough epics to renumber them all.
 */
export async function moveEpic(
  tx: Tx,
  sources: StoreSources,
  id: string,
  before: string | null,
): Promise<void> {
  const row = await epicOrRefuse(tx, id);
  if (before !== null) await epicOrRefuse(tx, before);
  if (before === id) return;
  const epics = await tx
    .selectFrom('epics')
    .select(['id', 'position'])
    .orderBy('position')
    .execute();
  const others = epics.filter((epic) => epic.id !== id);
  const place = before === null ? others.length : others.findIndex((epic) => epic.id === before);
  const moved = { id, position: row.position };
  for (const [index, epic] of others.toSpliced(place, 0, moved).entries()) {
    if (epic.position === index + 1) continue;
    await tx
      .updateTable('epics')
      .set({ position: index + 1 })
      .where('id', '=', epic.id)
      .execute();
  }
  const data = { title: row.title, before };
  await appendEvent(tx, sources, { type: 'epic.moved', epicId: id, data });
}

/** Resolves with the removed row. */
export async function removeEpic(tx: Tx, sources: StoreSources, id: string): Promise<EpicRow> {
  const row = await epicOrRefuse(tx, id);
  const held = await tx
    .selectFrom('tasks')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('epic_id', '=', id)
    .executeTakeFirstOrThrow();
  if (held.n > 0) {
    throw new Refusal(
      'bad_state',
      `Epic ${id} holds ${held.n} task${held.n === 1 ? '' : 's'}; move or remove what is in it first.`,
    );
  }
  const run = await tx
    .selectFrom('runs')
    .select('id')
    .where('epic_id', '=', id)
    .where('state', '!=', 'finished')
    .executeTakeFirst();
  if (run !== undefined) {
    throw new Refusal('bad_state', `Run ${run.id} is about epic ${id}; wait until it has ended.`);
  }
  await tx.deleteFrom('epics').where('id', '=', id).execute();
  await appendEvent(tx, sources, {
    type: 'epic.removed',
    epicId: id,
    data: { title: row.title },
  });
  return row;
}
