// The tasks in the scope of a run, and the line on which they land.

export interface Scope {
  /** Null for all tasks, with or without an epic. */
  readonly epicId: string | null;
  /** Epics whose tasks are not in it. */
  readonly exceptEpics: readonly string[];
  /** Only these tasks, or null for all unfinished ones. */
  readonly tasks: readonly string[] | null;
  /** Absent for any line. */
  readonly on?: RunLine;
}

export interface RunLine {
  readonly line: string;
  /** The branch that the line lands on in the end: a line takes it in if a task needs that. */
  readonly target: string;
}
