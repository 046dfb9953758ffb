// Notes for later tasks. A row exists only while the note is valid. When a note is dropped, its row
// is removed and the feed says why.

import type { Selectable, SelectQueryBuilder } from 'kysely';
import { Refusal } from '../../core/failure.ts';
import { newId } from '../../core/ids.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import { shown } from '../rows/field-checks.ts';
import type { NoteTable } from '../schema/note-rows.ts';
import type { Reads, StoreTables, Tx } from '../schema/tables.ts';

export type NoteRow = Selectable<NoteTable>;

export interface NewNote extends Pick<NoteRow, 'text' | 'epic_id' | 'task_id' | 'attempt'> {
  readonly isKept: boolean;
  readonly citation: {
    readonly path: string;
    readonly line: number;
    readonly text: string;
    /** A commit that contains the line; null if only unfinished work does. */
    readonly commit: string | null;
  } | null;
}

/** Why a note was removed. */
export type NoteEnd = 'person' | 'lines_changed';

/** Maximum number of notes read at once. The latest ones are read. */
const notesMax = 500;

/**
 * Valid notes, newest first: written or used since then, and not by an attempt that failed, unless
 * a person kept them.
 */
export async function readNotes(
  db: Reads,
  { usedSinceMs, epicId }: { readonly usedSinceMs: number; readonly epicId?: string | null },
): Promise<readonly NoteRow[]> {
  const query = ofGoodAttempts(db.selectFrom('notes').selectAll('notes'))
    .where('notes.used_at_ms', '>=', usedSinceMs)
    .orderBy('notes.created_at_ms', 'desc')
    .orderBy('notes.id')
    .limit(notesMax);
  if (epicId === undefined) return query.execute();
  return query
    .where((eb) =>
      eb.or([
        eb('notes.kept', '=', 1),
        ...(epicId === null ? [] : [eb('notes.epic_id', '=', epicId)]),
      ]),
    )
    .execute();
}

function ofGoodAttempts<Row>(
  query: SelectQueryBuilder<StoreTables, 'notes', Row>,
): SelectQueryBuilder<StoreTables, 'notes', Row> {
  return query.where((eb) =>
    eb.or([
      eb('notes.kept', '=', 1),
      eb('notes.task_id', 'is', null),
      eb.not(
        eb.exists(
          eb
            .selectFrom('attempts')
            .select('attempts.number')
            .whereRef('attempts.task_id', '=', 'notes.task_id')
            .whereRef('attempts.number', '=', 'notes.attempt')
            .where('attempts.state', '=', 'failed'),
        ),
      ),
    ]),
  );
}

export async function countNotes(
  db: Reads,
  of: { readonly taskId: string; readonly attempt: number },
): Promise<number> {
  const { n } = await db
    .selectFrom('notes')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('task_id', '=', of.taskId)
    .where('attempt', '=', of.attempt)
    .executeTakeFirstOrThrow();
  return Number(n);
}

/** A note with the same text in the same epic and attempt is the same note. */
export async function addNote(tx: Tx, sources: StoreSources, note: NewNote): Promise<NoteRow> {
  const known = await sameNote(tx, note);
  if (known !== null) return known;
  const nowMs = sources.clock.now();
  const { citation } = note;
  const row: NoteRow = {
    id: newId('note', sources.random(8)),
    text: note.text,
    epic_id: note.epic_id,
    task_id: note.task_id,
    attempt: note.attempt,
    kept: note.isKept ? 1 : 0,
    path: citation?.path ?? null,
    line: citation?.line ?? null,
    cited: citation?.text ?? null,
    commit_sha: citation?.commit ?? null,
    created_at_ms: nowMs,
    used_at_ms: nowMs,
    uses: 0,
  };
  await tx.insertInto('notes').values(row).execute();
  await appendNote(tx, sources, 'note.added', row, { text: row.text });
  return row;
}

async function sameNote(tx: Tx, note: NewNote): Promise<NoteRow | null> {
  const row = await tx
    .selectFrom('notes')
    .selectAll()
    .where('text', '=', note.text)
    .where('epic_id', note.epic_id === null ? 'is' : '=', note.epic_id)
    .where('task_id', note.task_id === null ? 'is' : '=', note.task_id)
    .where('attempt', note.attempt === null ? 'is' : '=', note.attempt)
    .where('kept', '=', note.isKept ? 1 : 0)
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** Refuses an unknown note. */
export async function noteOrRefuse(db: Reads, id: string): Promise<NoteRow> {
  const row = await db.selectFrom('notes').selectAll().where('id', '=', id).executeTakeFirst();
  if (row !== undefined) return row;
  throw new Refusal(
    'unknown_id',
    `Note "${shown(id)}" does not exist in this project. Run "drover notes" to list the ids.`,
  );
}

/** Makes the note valid for the whole project, whatever happens to its attempt. */
export async function keepNote(tx: Tx, sources: StoreSources, id: string): Promise<NoteRow> {
  const row = await noteOrRefuse(tx, id);
  if (row.kept === 1) return row;
  const kept = { kept: 1, used_at_ms: sources.clock.now() };
  await tx.updateTable('notes').set(kept).where('id', '=', id).execute();
  await appendNote(tx, sources, 'note.kept', row);
  return { ...row, ...kept };
}

/** Does nothing if the note was already removed. */
export async function dropNote(
  tx: Tx,
  sources: StoreSources,
  id: string,
  reason: NoteEnd,
): Promise<void> {
  const row = await tx.deleteFrom('notes').where('id', '=', id).returningAll().executeTakeFirst();
  if (row !== undefined)
    await appendNote(tx, sources, 'note.dropped', row, { reason, text: row.text });
}

/** Records that a prompt now uses them. */
export async function noteUses(
  tx: Tx,
  sources: StoreSources,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await tx
    .updateTable('notes')
    .set((eb) => ({ used_at_ms: sources.clock.now(), uses: eb('uses', '+', 1) }))
    .where('id', 'in', [...ids])
    .execute();
}

async function appendNote(
  tx: Tx,
  sources: StoreSources,
  type: 'note.added' | 'note.kept' | 'note.dropped',
  row: NoteRow,
  data: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await appendEvent(tx, sources, {
    type,
    taskId: row.task_id,
    epicId: row.epic_id,
    data: { note: row.id, ...data },
  });
}
