// What blocks a task besides its blockers, as data. `blocked_reason` has the sentence for people;
// no code reads it.

export type BlockCause = RedBase;

/** The tip that the task would start from, or lands on, fails the gate by itself. */
export interface RedBase {
  readonly kind: 'red_base';
  readonly line: string;
  /** The branch that people know it by: an epic's line without work of its own is its target. */
  readonly on: string;
  /** Tip of the line at that time. */
  readonly commit: string;
  /** Tip of the branch where that was elsewhere. */
  readonly branch: string | null;
  /** Unix ms. */
  readonly at_ms: number;
  /** A person has decided that the task starts all the same. */
  readonly waived?: boolean;
}

export function readBlockCause(text: string | null): BlockCause | null {
  return text === null ? null : (JSON.parse(text) as BlockCause);
}

export function storedCause(cause: BlockCause): string {
  return JSON.stringify(cause);
}

/** The sentence of reasons from before they were data. */
const oldRedBase = /^(\S+) is red before any task \(([0-9a-f]+)(?:\+([0-9a-f]+))?\)/;

/** For the migration alone. Returns null if the sentence is about something else. */
export function causeOfOldReason(reason: string): BlockCause | null {
  const [, line, commit, branch = null] = oldRedBase.exec(reason) ?? [];
  if (line === undefined || commit === undefined) return null;
  return { kind: 'red_base', line, on: line, commit, branch, at_ms: 0 };
}
