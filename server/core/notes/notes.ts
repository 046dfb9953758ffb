// Notes by agents and people for later tasks: which of them a prompt includes, and whether the line
// that a note cites still exists. Pure.

import { isSameFile, namedFiles } from './named-files.ts';

export const noteCharactersMax = 280;

/** A line of a file at the time the note was written. */
export interface Citation {
  readonly path: string;
  /** Counts from 1. */
  readonly line: number;
  readonly text: string;
}

export interface Note {
  readonly id: string;
  readonly text: string;
  readonly epicId: string | null;
  /** A person kept the note for the whole project. */
  readonly isKept: boolean;
  readonly taskId: string | null;
  readonly citation: Citation | null;
  readonly createdAtMs: number;
}

export interface NoteReader {
  readonly epicId: string | null;
  /** Known files that the task is about. */
  readonly paths: readonly string[];
}

/**
 * Includes all notes of the task's epic. A note from elsewhere is included only if a person kept it
 * and it names no file or a file close to the task's. The closest notes come first, then the
 * newest.
 */
export function rankNotes(notes: readonly Note[], wanted: NoteReader): readonly Note[] {
  return notes
    .flatMap((note) => {
      const near = nearness(note, wanted);
      return near === null ? [] : [{ note, near }];
    })
    .toSorted((a, b) => b.near - a.near || b.note.createdAtMs - a.note.createdAtMs)
    .map(({ note }) => note);
}

/** In writing order, so that adding a note changes little of the prompt. */
export function inOrderOfWriting<N extends Pick<Note, 'id' | 'createdAtMs'>>(
  notes: readonly N[],
): readonly N[] {
  return notes.toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
}

/**
 * 3: names a file of the task; 2: a file in the same folder; 1: relevant without a common file.
 * Returns null to omit the note.
 */
function nearness(note: Note, { epicId, paths }: NoteReader): 1 | 2 | 3 | null {
  const isOfEpic = note.epicId !== null && note.epicId === epicId;
  if (!isOfEpic && !note.isKept) return null;
  const named = filesOf(note);
  if (named.some((file) => paths.some((path) => isSameFile(file, path)))) return 3;
  const folders = new Set(paths.map(folderOf).filter((folder) => folder !== ''));
  if (named.some((file) => folders.has(folderOf(file)))) return 2;
  return isOfEpic || named.length === 0 ? 1 : null;
}

function filesOf({ citation, text }: Note): readonly string[] {
  const named = namedFiles(text);
  return citation === null ? named : [citation.path, ...named];
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/**
 * Returns the number of the line that still has the cited text, closest to its former position, or
 * null. Ignores indentation.
 */
export function findCited({ line, text }: Citation, content: string): number | null {
  const wanted = text.trim();
  let best: number | null = null;
  for (const [index, row] of content.split('\n').entries()) {
    if (row.trim() !== wanted) continue;
    const number = index + 1;
    if (best === null || Math.abs(number - line) < Math.abs(best - line)) best = number;
  }
  return best;
}

/** How a new prompt treats a note that cites a line. */
export type CitedState =
  | { readonly kind: 'found'; readonly line: number }
  /** The working tree does not contain the cited work. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'changed' };

/**
 * `content`: the file in the task's base commit; null if missing. `hasSource`: whether the base
 * contains the commit in which the line was cited.
 */
export function citedState(
  citation: Citation,
  { content, hasSource }: { readonly content: string | null; readonly hasSource: boolean },
): CitedState {
  const line = content === null ? null : findCited(citation, content);
  if (line !== null) return { kind: 'found', line };
  return hasSource ? { kind: 'changed' } : { kind: 'elsewhere' };
}
