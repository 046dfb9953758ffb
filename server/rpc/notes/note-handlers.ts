// Requests by which people list, add, keep and drop notes.

import { Refusal } from '../../core/failure.ts';
import type { Handlers, Params } from '../../protocol/api.ts';
import type { NoteView } from '../../protocol/requests/notes.ts';
import {
  addNote,
  dropNote,
  epicOrRefuse,
  keepNote,
  type NewNote,
  noteOrRefuse,
  type NoteRow,
  readNotes,
} from '../../store/port.ts';
import { citedPlace, lineAt, noSuchLine, noteText } from './cited-line.ts';
import type { DataHandlerDeps } from '../handlers/data-deps.ts';

type NoteRequests = 'notes.list' | 'notes.add' | 'notes.keep' | 'notes.drop';

export function noteHandlers(deps: DataHandlerDeps): Pick<Handlers, NoteRequests> {
  const { store } = deps;
  return {
    'notes.list': async ({ epic }) => {
      if (epic !== undefined) await epicOrRefuse(store.db, epic);
      const { notesMs } = deps.settings().retention;
      const usedSinceMs = Number.isFinite(notesMs) ? store.sources.clock.now() - notesMs : 0;
      const of = epic === undefined ? {} : { epicId: epic };
      return (await readNotes(store.db, { usedSinceMs, ...of })).map(noteView);
    },
    'notes.add': async (given) => noteView(await addForPerson(deps, given)),
    'notes.keep': async ({ id }) =>
      noteView(await store.transaction((tx) => keepNote(tx, store.sources, id))),
    'notes.drop': async ({ id }) => {
      await store.transaction(async (tx) => {
        await noteOrRefuse(tx, id);
        await dropNote(tx, store.sources, id, 'person');
      });
      return { dropped: id };
    },
  };
}

async function addForPerson(
  { store, git }: DataHandlerDeps,
  { text, epic, at }: Params<'notes.add'>,
): Promise<NoteRow> {
  const line = noteText(text);
  const citation = at === undefined ? null : await cite(git, at);
  return store.transaction(async (tx) => {
    if (epic !== undefined) await epicOrRefuse(tx, epic);
    return addNote(tx, store.sources, {
      text: line,
      epic_id: epic ?? null,
      task_id: null,
      attempt: null,
      isKept: epic === undefined,
      citation,
    });
  });
}

/** Reads the line from the commit that is checked out. */
async function cite(git: DataHandlerDeps['git'], at: string): Promise<NewNote['citation']> {
  const place = citedPlace(at, git.facts.root);
  const head = await git.resolve('HEAD');
  if (!head.ok) throw new Refusal('bad_state', head.error.message);
  const text = await lineAt(git, head.value, place);
  if (text === null) throw noSuchLine(place, 'in the commit that is checked out');
  return { ...place, text, commit: head.value };
}

function noteView(row: NoteRow): NoteView {
  return {
    id: row.id,
    text: row.text,
    epic_id: row.epic_id,
    task_id: row.task_id,
    attempt: row.attempt,
    kept: row.kept === 1,
    path: row.path,
    line: row.line,
    commit_sha: row.commit_sha,
    created_at: Math.floor(row.created_at_ms / 1000),
    used_at: Math.floor(row.used_at_ms / 1000),
    uses: row.uses,
  };
}
