// The lines `Key: value` that Drover writes below the subject of its commits, and finds them by.

const keys = {
  task: 'Drover-Task',
  attempt: 'Drover-Attempt',
  epic: 'Drover-Epic',
  undo: 'Drover-Undo',
  /**
   * In the first commit that was brought over onto a rewritten branch: its parent is that branch's
   * tip.
   */
  onto: 'Drover-Onto',
  /** In a commit that holds the changes of a line, whose own commits it cannot have as parents. */
  tip: 'Drover-Tip',
} as const;

export type TrailerKind = keyof typeof keys;

export function trailer(kind: TrailerKind, value: string | number): string {
  return `${keys[kind]}: ${value}`;
}

/** The value of a trailer of this kind; null: it is another one. */
export function trailerValue(kind: TrailerKind, line: string): string | null {
  const start = `${keys[kind]}: `;
  return line.startsWith(start) ? line.slice(start.length) : null;
}

/** For git's own reading of messages. */
export function trailerKey(kind: TrailerKind): string {
  return keys[kind];
}

/** The two that name an attempt's work. */
export function attemptTrailers(taskId: string, attempt: number): readonly string[] {
  return [trailer('task', taskId), trailer('attempt', attempt)];
}
