// Chooses the notes for a prompt, and drops notes whose cited line has changed.

import { namedFiles } from '../../core/notes/named-files.ts';
import {
  type Citation,
  type CitedState,
  citedState,
  inOrderOfWriting,
  type Note,
  rankNotes,
} from '../../core/notes/notes.ts';
import type { PromptNote } from '../../core/prompt/notes-prompt.ts';
import type { Sha } from '../../git/sha.ts';
import {
  readAttempt,
  type AttemptRow,
  dropNote,
  existingTask,
  type NoteRow,
  noteUses,
  readNotes,
  taskById,
  type TaskRow,
} from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';

/** A citation of a larger file is not checked; its line counts as unchanged. */
const fileBytesMax = 1024 * 1024;

type Using = Uses<'clock' | 'git' | 'settings' | 'store'>;

/** Returns as many notes as the settings allow, and records that they were used. */
export async function notesForPrompt(
  engine: Using,
  attempt: AttemptRow,
  part: string,
): Promise<readonly PromptNote[]> {
  const { store } = engine;
  const { noteCount, notesKeptMs } = engine.settings();
  if (noteCount === 0) return [];
  const task = await existingTask(store.db, part);
  const usedSinceMs = Number.isFinite(notesKeptMs) ? engine.clock.now() - notesKeptMs : 0;
  const rows = await readNotes(store.db, { usedSinceMs, epicId: task.epic_id });
  if (rows.length === 0) return [];
  const paths = await pathsOfTask(engine, task, attempt);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const shown: (PromptNote & { readonly id: string; readonly createdAtMs: number })[] = [];
  const changed: string[] = [];
  for (const note of rankNotes(rows.map(noteOf), { epicId: task.epic_id, paths })) {
    if (shown.length === noteCount) break;
    const { id, text, taskId, citation, createdAtMs } = note;
    const state = citation === null ? null : await stateOf(engine, citation, byId.get(id), attempt);
    if (state?.kind === 'changed') changed.push(id);
    else shown.push({ id, createdAtMs, text, taskId, place: placeOf(citation, state) });
  }
  await store.transaction(async (tx) => {
    for (const id of changed) await dropNote(tx, store.sources, id, 'lines_changed');
    await noteUses(
      tx,
      store.sources,
      shown.map(({ id }) => id),
    );
  });
  return inOrderOfWriting(shown);
}

function noteOf(row: NoteRow): Note {
  const { path, line, cited } = row;
  return {
    id: row.id,
    text: row.text,
    epicId: row.epic_id,
    isKept: row.kept === 1,
    taskId: row.task_id,
    citation: path === null || line === null ? null : { path, line, text: cited ?? '' },
    createdAtMs: row.created_at_ms,
  };
}

function placeOf(citation: Citation | null, state: CitedState | null): PromptNote['place'] {
  if (citation === null || state === null) return null;
  const { path, line } = citation;
  return state.kind === 'found'
    ? { path, line: state.line, isHere: true }
    : { path, line, isHere: false };
}

/** Files that the task's text names, that its last attempt changed, or that had a conflict. */
async function pathsOfTask(
  engine: Uses<'git' | 'store'>,
  task: TaskRow,
  attempt: AttemptRow,
): Promise<readonly string[]> {
  const { title, description, acceptance_criteria: criteria } = task;
  const named = namedFiles([title, description ?? '', criteria].join('\n'));
  const conflicts = JSON.parse(task.conflict_files) as string[];
  const before = await readAttempt(engine.store.db, attempt.task_id, attempt.number - 1);
  const { base_sha: from = null, commit_sha: to = null } = before ?? {};
  const changed = from === null || to === null ? null : await engine.git.changedPaths(from, to);
  return [...new Set([...named, ...conflicts, ...(changed?.ok === true ? changed.value : [])])];
}

async function stateOf(
  { git, store }: Uses<'git' | 'store'>,
  citation: Citation,
  row: NoteRow | undefined,
  attempt: AttemptRow,
): Promise<CitedState> {
  const base = attempt.base_sha;
  const read = base === null ? null : await git.fileAt(base, citation.path, fileBytesMax);
  // If git cannot answer, the prompt does without the check.
  if (base === null || read?.ok !== true) return { kind: 'elsewhere' };
  const bytes = read.value?.bytes;
  if (bytes === null) return { kind: 'found', line: citation.line };
  const content = bytes === undefined ? null : new TextDecoder().decode(bytes);
  const source = row === undefined ? null : await sourceOf(store, row);
  const hasSource = source !== null && (await git.isAncestor(source, base));
  return citedState(citation, { content, hasSource });
}

/**
 * A commit that contains the cited line. Returns null if the work with that line has not landed.
 */
async function sourceOf(store: Using['store'], row: NoteRow): Promise<Sha | null> {
  if (row.commit_sha !== null || row.task_id === null) return row.commit_sha;
  return (await taskById(store.db, row.task_id))?.landed_sha ?? null;
}
