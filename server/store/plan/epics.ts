// Creates, changes and closes epics.

import { Refusal } from '../../core/failure.ts';
import { newId } from '../../core/ids.ts';
import { terminalStatuses } from '../../core/plan/state.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import { checkedDescription, checkedTitle } from '../rows/field-checks.ts';
import { epicOrRefuse, isIdTaken } from '../rows/find-rows.ts';
import { parseRunPlace } from './task-fields.ts';
import type { EpicRow, Tx } from '../schema/tables.ts';

export interface EpicFields {
  readonly title?: string;
  readonly description?: string;
  readonly runs_on?: string | null;
}

const idTriesMax = 20;

/** A new, unused id. */
export async function freshId(
  tx: Tx,
  sources: StoreSources,
  kind: 'epic' | 'task',
): Promise<string> {
  const prefix = await beadsPrefix(tx);
  for (let tries = 0; tries < idTriesMax; tries += 1) {
    const own = newId(kind, sources.random(8));
    const id = prefix === null ? own : own.replace(/^[a-z]+/u, prefix);
    if (!(await isIdTaken(tx, id))) return id;
  }
  throw new Error('no free id was found: the random source repeats itself');
}

/**
 * Beads refuses a file with ids of several prefixes, so new ids of a project with Beads issues use
 * theirs.
 */
async function beadsPrefix(tx: Tx): Promise<string | null> {
  const row = await tx
    .selectFrom('tasks')
    .select('id')
    .where('source', 'like', '%.beads/%')
    .where('parent_id', 'is', null)
    .limit(1)
    .executeTakeFirst();
  const prefix = /^([A-Za-z0-9][A-Za-z0-9_-]{0,31})-[a-z0-9]+(?:\.\d+)*$/u.exec(row?.id ?? '')?.[1];
  return prefix ?? null;
}

export async function nextEpicPosition(tx: Tx): Promise<number> {
  const row = await tx
    .selectFrom('epics')
    .select((eb) => eb.fn.max('position').as('last'))
    .executeTakeFirst();
  return (row?.last ?? 0) + 1;
}

export async function addEpic(
  tx: Tx,
  sources: StoreSources,
  fields: EpicFields & { readonly title: string },
): Promise<EpicRow> {
  const title = checkedTitle(fields.title);
  const description = checkedDescription(fields.description ?? '');
  const runsOn = parseRunPlace(fields.runs_on ?? null);
  const id = await freshId(tx, sources, 'epic');
  await tx
    .insertInto('epics')
    .values({
      id,
      title,
      description,
      runs_on: runsOn,
      created_at: Math.floor(sources.clock.now() / 1000),
      position: await nextEpicPosition(tx),
    })
    .execute();
  await appendEvent(tx, sources, { type: 'epic.created', epicId: id, data: { title } });
  return epicOrRefuse(tx, id);
}

export async function editEpic(
  tx: Tx,
  sources: StoreSources,
  id: string,
  fields: EpicFields,
): Promise<EpicRow> {
  const row = await epicOrRefuse(tx, id);
  const title = fields.title === undefined ? row.title : checkedTitle(fields.title);
  const description =
    fields.description === undefined ? row.description : checkedDescription(fields.description);
  const runsOn = fields.runs_on === undefined ? row.runs_on : parseRunPlace(fields.runs_on);
  const changed = [
    ...(runsOn === row.runs_on ? [] : ['runs_on']),
    ...(title === row.title ? [] : ['title']),
    ...(description === row.description ? [] : ['description']),
  ];
  if (changed.length === 0) return row;
  await tx
    .updateTable('epics')
    .set({ title, description, runs_on: runsOn })
    .where('id', '=', id)
    .execute();
  await appendEvent(tx, sources, { type: 'epic.edited', epicId: id, data: { title, changed } });
  return { ...row, title, description, runs_on: runsOn };
}

const namedTasksMax = 5;

/**
 * Closing an epic means that nothing more happens in it. Refused while a task of the epic can still
 * proceed, or while the finished epic is landing or waits for an approval, because work would
 * silently be left behind. Closing twice is allowed. A task that is added later reopens the epic.
 */
export async function closeEpic(tx: Tx, sources: StoreSources, id: string): Promise<EpicRow> {
  const row = await epicOrRefuse(tx, id);
  if (row.status === 'closed') return row;
  const open = await tx
    .selectFrom('tasks')
    .select(['id', 'status'])
    .where('epic_id', '=', id)
    .where('status', 'not in', [...terminalStatuses])
    .orderBy('position')
    .execute();
  if (open.length > 0) {
    const named = open.slice(0, namedTasksMax).map((task) => `${task.id} (${task.status})`);
    const more = open.length > namedTasksMax ? ` and ${open.length - namedTasksMax} more` : '';
    throw new Refusal(
      'epic_open',
      `Epic ${id} still has tasks that have not ended: ${named.join(', ')}${more}; finish or cancel them first.`,
    );
  }
  if (row.landing_state === 'landing' || row.landing_state === 'needs_review') {
    const remedy =
      row.landing_state === 'landing'
        ? 'wait until it has landed'
        : `use "drover approve ${id}" or "drover send-back ${id}" first`;
    throw new Refusal('epic_open', `Epic ${id} has not landed yet; ${remedy}.`);
  }
  await tx.updateTable('epics').set({ status: 'closed' }).where('id', '=', id).execute();
  await appendEvent(tx, sources, { type: 'epic.closed', epicId: id, data: { title: row.title } });
  return { ...row, status: 'closed' };
}

/** Sets the branch whose line receives the landings of the epic's run. */
export async function setEpicLine(tx: Tx, id: string, branch: string): Promise<void> {
  await tx.updateTable('epics').set({ branch }).where('id', '=', id).execute();
}

/** Reopens a closed epic when a task is added to it. */
export async function openEpicForTask(tx: Tx, sources: StoreSources, id: string): Promise<void> {
  const row = await epicOrRefuse(tx, id);
  if (row.status === 'open') return;
  await tx.updateTable('epics').set({ status: 'open' }).where('id', '=', id).execute();
  await appendEvent(tx, sources, { type: 'epic.opened', epicId: id, data: { title: row.title } });
}
