// Stores as data why a task is held apart from its blockers. `blocked_reason` is only the sentence
// for people; no code parses it.

export type BlockCause = RedBase | MissingBase | OtherCause;

/** The line lacks a blocker's commit, or conflicts with its parent line. */
export interface MissingBase {
  readonly kind: 'missing_base';
  readonly line: string;
  /** The missing commit; null if the line conflicts with its parent. */
  readonly sha: string | null;
  /** Tips of the line and its target when they were last checked. Absent before the first check. */
  readonly seen?: string;
}

/**
 * `setup`: the setup of its worktree failed. `beads`: the other tool holds, deferred or closed it.
 * `issue`: it waits for an open issue outside of the plan. `outside`: another cause that only a
 * person can resolve.
 */
export interface OtherCause {
  readonly kind: 'setup' | 'beads' | 'issue' | 'outside';
}

/** The task's base, or the tip that it lands on, fails the gate by itself. */
export interface RedBase {
  readonly kind: 'red_base';
  readonly line: string;
  /** The branch to show to people. For an epic's line without own work, this is its target. */
  readonly on: string;
  /** Tip of the line at that time. */
  readonly commit: string;
  /** The tip of a branch that moved unexpectedly; null if it did not. */
  readonly branch: string | null;
  /** Unix ms. */
  readonly at_ms: number;
  /** A person decided to start the task anyway. */
  readonly waived?: boolean;
}

export function readBlockCause(text: string | null): BlockCause | null {
  return text === null ? null : (JSON.parse(text) as BlockCause);
}

export function storedCause(cause: BlockCause): string {
  return JSON.stringify(cause);
}

/** Returns null unless the task waits because its line fails the gate. */
export function redBaseCause(row: {
  readonly blocked_reason: string | null;
  readonly blocked_by: string | null;
}): RedBase | null {
  const cause = row.blocked_reason === null ? null : readBlockCause(row.blocked_by);
  return cause?.kind === 'red_base' ? cause : null;
}

/** Matches sentences stored by versions that did not store the cause as data. */
const oldRedBase = /^(\S+) is red before any task \(([0-9a-f]+)(?:\+([0-9a-f]+))?\)/;
const oldMissingBase = /^the commit of its blocker \S+ is on \S+, not in (\S+);/;
const oldConflict = /^(\S+) and its parent can't be merged; /;

/** Used only by migrations. */
export function causeOfOldReason(reason: string): BlockCause {
  const [, red, commit, branch = null] = oldRedBase.exec(reason) ?? [];
  if (red !== undefined && commit !== undefined)
    return { kind: 'red_base', line: red, on: red, commit, branch, at_ms: 0 };
  const line = (oldMissingBase.exec(reason) ?? oldConflict.exec(reason))?.[1];
  if (line !== undefined) return { kind: 'missing_base', line, sha: null };
  if (reason.startsWith('Beads: ')) return { kind: 'beads' };
  return { kind: reason.startsWith('setup: ') ? 'setup' : 'outside' };
}
