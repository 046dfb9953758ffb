// Notes that agents and people leave for later tasks: which of them a prompt shows, and whether the
// line that a note cites still exists. Pure.

import { isSameFile, namedFiles } from './named-files.ts';

export const noteCharactersMax = 280;

/** A line of a file as it was when the note was written. */
export interface Citation {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

export interface Note {
  readonly id: string;
  readonly text: string;
  readonly epicId: string | null;
  /** A person kept it for the whole project. */
  readonly isKept: boolean;
  readonly taskId: string | null;
  readonly citation: Citation | null;
  readonly createdAtMs: number;
}

export interface NotesFor {
  readonly epicId: string | null;
  /** Files that the task is about, as far as they are known. */
  readonly paths: readonly string[];
}

/**
 * Inside its epic every note counts; elsewhere only a kept one does, and only if it names no file
 * or one near the task's. The nearest come first, then the newest.
 */
export function rankNotes(notes: readonly Note[], wanted: NotesFor): readonly Note[] {
  return notes
    .flatMap((note) => {
      const near = nearness(note, wanted);
      return near === null ? [] : [{ note, near }];
    })
    .toSorted((a, b) => b.near - a.near || b.note.createdAtMs - a.note.createdAtMs)
    .map(({ note }) => note);
}

/** In the order of writing, so that a prompt changes little when a note is added. */
export function inOrderOfWriting<N extends Pick<Note, 'id' | 'createdAtMs'>>(
  notes: readonly N[],
): readonly N[] {
  return notes.toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
}

/**
 * 3: a file of the task; 2: a folder of it; 1: relevant without a common file; null for a note that
 * is left out.
 */
function nearness(note: Note, { epicId, paths }: NotesFor): 1 | 2 | 3 | null {
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
 * The number of the cited line in the file's present text, nearest to its former place; null if no
 * line has that text any more. Indentation does not count.
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

/** How a new prompt uses a note that cites a line. */
export type CitedState =
  | { readonly kind: 'found'; readonly line: number }
  /** The work that has the line is not in this directory. */
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'changed' };

/**
 * `content`: the file in the commit from which the task starts, null if it is missing there;
 * `hasSource`: that commit contains the one in which the line was seen.
 */
export function citedState(
  citation: Citation,
  { content, hasSource }: { readonly content: string | null; readonly hasSource: boolean },
): CitedState {
  const line = content === null ? null : findCited(citation, content);
  if (line !== null) return { kind: 'found', line };
  return hasSource ? { kind: 'changed' } : { kind: 'elsewhere' };
}
