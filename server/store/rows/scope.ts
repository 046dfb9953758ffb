// The tasks in the scope of a run, and the line on which they land.

export interface Scope {
  /** Null = all tasks, with or without an epic. */
  readonly epicId: string | null;
  /** Epics whose tasks are excluded. */
  readonly exceptEpics: readonly string[];
  /** Only these tasks; null = all unfinished ones. */
  readonly tasks: readonly string[] | null;
  /** Absent = any line. */
  readonly on?: RunLine;
}

export interface RunLine {
  readonly line: string;
  /** The branch that the line finally lands on, which the line merges if a task needs it. */
  readonly target: string;
}
