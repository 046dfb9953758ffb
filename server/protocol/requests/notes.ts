// Requests about notes: short facts for prompts of later tasks.

import { id, optional, boundedText, word } from './fields.ts';

const placeCharactersMax = 4_200;

export const noteShapes = {
  /** `epic`: notes that apply in this epic, which are its own and the project's. */
  'notes.list': { epic: optional(id) },
  /** For the tasks of an epic or for the whole project. `at`: the cited line, as `file:line`. */
  'notes.add': { text: word, epic: optional(id), at: optional(boundedText(placeCharactersMax)) },
  /** Makes the note apply to the whole project. */
  'notes.keep': { id },
  'notes.drop': { id },
};

export interface NoteView {
  readonly id: string;
  readonly text: string;
  readonly epic_id: string | null;
  /** The task whose agent wrote it; null for a person's note. */
  readonly task_id: string | null;
  readonly attempt: number | null;
  /** Whether it applies to the whole project. */
  readonly kept: boolean;
  /** The cited line at the time the note was written. */
  readonly path: string | null;
  readonly line: number | null;
  readonly commit_sha: string | null;
  /** Unix seconds. */
  readonly created_at: number;
  readonly used_at: number;
  /** Number of prompts that have used it. */
  readonly uses: number;
}

export interface NoteAnswers {
  'notes.list': readonly NoteView[];
  'notes.add': NoteView;
  'notes.keep': NoteView;
  'notes.drop': { dropped: string };
}
