// What Drover reads from a forge. "Not read" is an answer of its own: it never means "none".

import type { Issue } from '../core/forge/issue.ts';
import type { IssueQuery } from '../core/forge/issue-query.ts';

export type Answer<T> =
  | { readonly kind: 'facts'; readonly value: T }
  | Unreadable
  /** The host answers no more requests until then; Unix ms. */
  | { readonly kind: 'limited'; readonly untilMs: number };

export interface Unreadable {
  readonly kind: 'unreadable';
  /** A sentence for a person, with the remedy if there is one. */
  readonly why: string;
  /** The host does not know it, or hides it from this token; or a token may help. */
  readonly cause: 'absent' | 'signed_out' | 'other';
}

export interface Tracker {
  /** Issues with their edges, and the sub-issues of those to any depth; no pull requests. */
  issues(query: IssueQuery): Promise<Answer<readonly Issue[]>>;
}

export function facts<T>(value: T): Answer<T> {
  return { kind: 'facts', value };
}

export function unreadable(why: string): Answer<never> {
  return { kind: 'unreadable', why, cause: 'other' };
}
