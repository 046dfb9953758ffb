// The lines `Key: value` that Drover writes below the subject of its commits, and finds them by.

const keys = {
  task: 'Drover-Task',
  attempt: 'Drover-Attempt',
  epic: 'Drover-Epic',
  undo: 'Drover-Undo',
  /** In a commit that was brought over onto a rewritten branch: the landing that it repeats. */
  was: 'Drover-Was',
  /** In a commit that holds the changes of a line, whose own commits it cannot have as parents. */
  tip: 'Drover-Tip',
} as const;

export type TrailerKind = keyof typeof keys;

export function trailer(kind: TrailerKind, value: string | number): string {
  return `${keys[kind]}: ${value}`;
}

/** The value of a trailer of this kind. Returns null for any other line. */
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

/**
 * Identifies the attempt whose work is in a commit with these trailers. Returns null if they name
 * none.
 */
export function attemptMark(trailers: readonly string[]): string | null {
  const task = trailers.find((line) => trailerValue('task', line) !== null);
  const attempt = trailers.find((line) => trailerValue('attempt', line) !== null);
  return task === undefined || attempt === undefined ? null : `${task}\n${attempt}`;
}
