// The table of notes: short facts that agents and people leave for later tasks.

import type { Defaulted } from './column-values.ts';

export interface NoteTable {
  id: string;
  text: string;
  /** Tasks of this epic get the note at once. */
  epic_id: string | null;
  /** The task and the attempt whose agent wrote it; null = a person did. */
  task_id: string | null;
  attempt: number | null;
  /** 1 if a person wants it for the whole project. */
  kept: Defaulted<number>;
  /** The cited line, with its text when the note was written; null = the note cites none. */
  path: string | null;
  line: number | null;
  cited: string | null;
  /** A commit that contains the cited line; null = only unfinished work of the task does. */
  commit_sha: string | null;
  created_at_ms: number;
  /** When a prompt last used it; initially, when it was written. */
  used_at_ms: number;
  uses: Defaulted<number>;
}

export interface NoteTables {
  notes: NoteTable;
}

export const noteStatements: readonly string[] = [
  `CREATE TABLE notes (
    id TEXT PRIMARY KEY, text TEXT NOT NULL, epic_id TEXT, task_id TEXT, attempt INTEGER,
    kept INTEGER NOT NULL DEFAULT 0, path TEXT, line INTEGER, cited TEXT, commit_sha TEXT,
    created_at_ms INTEGER NOT NULL, used_at_ms INTEGER NOT NULL,
    uses INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID`,
  `CREATE INDEX notes_epic ON notes(epic_id, used_at_ms)`,
];
