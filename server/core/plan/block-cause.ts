// Why a task is held besides its blockers, as data. `blocked_reason` has the sentence for people;
// no code reads it.

export type BlockCause = RedBase | MissingBase | OtherCause;

/** The line lacks the commit of a blocker, or conflicts with its parent line. */
export interface MissingBase {
  readonly kind: 'missing_base';
  readonly line: string;
  /** Null if no commit is missing, and the line cannot be merged with its parent. */
  readonly sha: string | null;
  /**
   * Tips of the line and its target at the last check for the commit. Absent before the first
   * check.
   */
  readonly seen?: string;
}

/**
 * The setup of its worktree failed; another tool (Beads) holds, deferred or closed it; an issue of
 * the forge that is not in the plan is open; something else that only a person can change.
 */
export interface OtherCause {
  readonly kind: 'setup' | 'beads' | 'issue' | 'outside';
}

/** The tip that the task would start from, or lands on, fails the gate by itself. */
export interface RedBase {
  readonly kind: 'red_base';
  readonly line: string;
  /** The branch that people know it by: an epic's line without work of its own is its target. */
  readonly on: string;
  /** Tip of the line at that time. */
  readonly commit: string;
  /** The unexpected tip of the branch. */
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

/** Returns null if the task does not wait for a line that fails its gate. */
export function redBaseOf(row: {
  readonly blocked_reason: string | null;
  readonly blocked_by: string | null;
}): RedBase | null {
  const cause = row.blocked_reason === null ? null : readBlockCause(row.blocked_by);
  return cause?.kind === 'red_base' ? cause : null;
}

/** Sentences of reasons from before they were data. */
const oldRedBase = /^(\S+) is red before any task \(([0-9a-f]+)(?:\+([0-9a-f]+))?\)/;
const oldMissingBase = /^the commit of its blocker \S+ is on \S+, not in (\S+);/;
const oldConflict = /^(\S+) and its parent can't be merged; /;

/** For migrations alone. */
export function causeOfOldReason(reason: string): BlockCause {
  const [, red, commit, branch = null] = oldRedBase.exec(reason) ?? [];
  if (red !== undefined && commit !== undefined)
    return { kind: 'red_base', line: red, on: red, commit, branch, at_ms: 0 };
  const line = (oldMissingBase.exec(reason) ?? oldConflict.exec(reason))?.[1];
  if (line !== undefined) return { kind: 'missing_base', line, sha: null };
  if (reason.startsWith('Beads: ')) return { kind: 'beads' };
  return { kind: reason.startsWith('setup: ') ? 'setup' : 'outside' };
}
