// Explains why an epic has not landed, or how far it is.

import { terminalStatuses } from '../../core/plan/state.ts';
import { holdsLandedWork } from '../plan/epic-landing.ts';
import type { Db } from '../rows/one-moment.ts';
import type { EpicRow, TaskRow } from '../schema/tables.ts';
import { epicLinePrefix } from '../../core/plan/outcome.ts';
import { toSingleLine } from './why-phrases.ts';

/** Maximum number of unfinished tasks that are explained one by one. */
const tasksShownMax = 5;

export async function whyEpic(
  db: Db,
  epic: EpicRow,
  whyTask: (row: TaskRow) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const tasks = await db
    .selectFrom('tasks')
    .selectAll()
    .where('epic_id', '=', epic.id)
    .where('parent_id', 'is', null)
    .where('candidate_of', 'is', null)
    .orderBy('id')
    .execute();
  const left = tasks.filter(({ status }) => !terminalStatuses.has(status) || status === 'failed');
  const sentences = [...landingSentences(epic), countSentence(epic, tasks, left)];
  for (const row of left.slice(0, tasksShownMax)) {
    const [first] = await whyTask(row);
    if (first !== undefined) sentences.push(first);
  }
  const more = left.length - tasksShownMax;
  if (more > 0)
    sentences.push(`${more} more are not finished: "drover status --epic ${epic.id}" lists them.`);
  if (left.length === 0 && tasks.length > 0 && epic.landing_state === null)
    sentences.push(await whereItsWorkIs(db, epic));
  return sentences;
}

function landingSentences({ id, landing_state, landing_note, landed_sha }: EpicRow): string[] {
  const note = landing_note === null ? null : toSingleLine(landing_note).replace(/\.$/u, '');
  switch (landing_state) {
    case 'landed':
      return [
        `${id} has landed${landed_sha === null ? '' : ` as ${landed_sha.slice(0, 12)}`}.`,
        ...(note === null ? [] : [`${note}.`]),
      ];
    case 'sent_back':
      return [`${id} was sent back${note === null ? '' : `: ${note}`}.`];
    default:
      return note === null ? [] : [`${note[0]?.toUpperCase() ?? ''}${note.slice(1)}.`];
  }
}

function countSentence(
  { id }: EpicRow,
  tasks: readonly TaskRow[],
  left: readonly TaskRow[],
): string {
  if (tasks.length === 0) return `${id} has no tasks. Add one with: drover add "…" --epic ${id}.`;
  const cancelled = tasks.filter(({ status }) => status === 'cancelled').length;
  const wanted = tasks.length - cancelled;
  const done = wanted - left.length;
  return `${done} of ${wanted} ${wanted === 1 ? 'task is' : 'tasks are'} completed${cancelled === 0 ? '' : `, ${cancelled} cancelled`}.`;
}

async function whereItsWorkIs(db: Db, { id }: EpicRow): Promise<string> {
  const line = `${epicLinePrefix}${id}`;
  return (await holdsLandedWork(db, line))
    ? `Its work is on ${line}: "drover run --epic ${id}" lands it.`
    : 'Each of them has landed on its own.';
}
