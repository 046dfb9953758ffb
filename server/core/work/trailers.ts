// The trailers (`Key: value`) that Drover writes into its commit messages, and by which it
// recognizes the commits.

const keys = {
  task: 'Drover-Task',
  attempt: 'Drover-Attempt',
  epic: 'Drover-Epic',
  undo: 'Drover-Undo',
  /** In a commit that repeats a landing on a rewritten branch: the original landing. */
  was: 'Drover-Was',
  /** In a commit with the changes of another line, whose commits cannot be its parents. */
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

/** The key, for git commands that read trailers. */
export function trailerKey(kind: TrailerKind): string {
  return keys[kind];
}

/** The two trailers that identify an attempt's work. */
export function attemptTrailers(taskId: string, attempt: number): readonly string[] {
  return [trailer('task', taskId), trailer('attempt', attempt)];
}

/** The attempt whose work a commit with these trailers contains. Returns null if they name none. */
export function attemptMark(trailers: readonly string[]): string | null {
  const task = trailers.find((line) => trailerValue('task', line) !== null);
  const attempt = trailers.find((line) => trailerValue('attempt', line) !== null);
  return task === undefined || attempt === undefined ? null : `${task}\n${attempt}`;
}
