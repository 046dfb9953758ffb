// What Drover reads from a forge. "Not read" is an answer of its own: it never means "none".

import type { Issue, IssueQuery } from '../core/forge/issue.ts';

export type Answer<T> =
  | { readonly kind: 'facts'; readonly value: T }
  /**
   * `why`: a sentence for a person, with the remedy if there is one. `isAbsent`: the host does not
   * know it, or hides it from this token.
   */
  | { readonly kind: 'unreadable'; readonly why: string; readonly isAbsent: boolean }
  /** The host answers no more requests until then; Unix ms. */
  | { readonly kind: 'limited'; readonly untilMs: number };

export interface Tracker {
  /** Issues with their edges, and the sub-issues of those to any depth; no pull requests. */
  issues(query: IssueQuery): Promise<Answer<readonly Issue[]>>;
}

export function facts<T>(value: T): Answer<T> {
  return { kind: 'facts', value };
}

export function unreadable(why: string): Answer<never> {
  return { kind: 'unreadable', why, isAbsent: false };
}
