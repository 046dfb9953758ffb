// The data that Drover reads from a forge. "Not read" is an answer of its own: it never means
// "none".

import type { JobLog } from '../core/forge/job-log.ts';
import type { RepositoryFacts } from '../core/forge/landing-rules.ts';
import type {
  BranchRules,
  Check,
  MergeMethod,
  Merging,
  PullCore,
  ReviewThread,
} from '../core/forge/pull-facts.ts';
import type { Issue, IssueRef } from '../core/forge/issue.ts';
import type { Claimant } from '../core/forge/intake.ts';
import type { IssueQuery } from '../core/forge/issue-query.ts';

export type Answer<T> =
  | {
      readonly kind: 'facts';
      readonly value: T;
      /** The part that could not be read, as a clause; absent if all was read. */
      readonly missing?: string;
    }
  | Unreadable
  /** The host answers no more requests until then; Unix ms. */
  | { readonly kind: 'limited'; readonly untilMs: number };

export interface Unreadable {
  readonly kind: 'unreadable';
  /** A sentence for a person, with the remedy if there is one. */
  readonly why: string;
  /**
   * The host does not know it, or hides it from this token; a token may help; this token has too
   * few rights; the request itself is wrong.
   */
  readonly cause: 'absent' | 'signed_out' | 'refused' | 'invalid' | 'other';
  /** The rights that the host says a token needs for it. */
  readonly needs?: string;
}

export interface Tracker {
  /** Issues with their edges, and the sub-issues of those to any depth; no pull requests. */
  issues(query: IssueQuery): Promise<Answer<readonly Issue[]>>;
  /**
   * The one comment of ours that has the marker says this from now on: it is made, edited, or left
   * alone if it says so already. A comment of someone else with the marker is not touched.
   */
  keepComment(issue: IssueRef, marker: string, body: string): Promise<Answer<null>>;
  /** Answers the user or App whose token it is. */
  login(): Promise<Answer<string>>;
  /** Answers true if the issue is this project's from now on, false if it is not yet. */
  claim(issue: IssueRef, claimant: Claimant): Promise<Answer<boolean>>;
  withdraw(issue: IssueRef, label: string): Promise<Answer<null>>;
  /** Closes it as done; does nothing if it is closed. */
  close(issue: IssueRef): Promise<Answer<null>>;
}

export interface NewPull {
  readonly head: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
}

export interface PullChange {
  readonly title?: string;
  readonly body?: string;
  readonly base?: string;
}

/** `head`: the commit that may be merged, and no other. */
export interface MergeRequest {
  readonly how: 'auto' | 'queue';
  readonly head: string;
  readonly method: MergeMethod;
}

export interface PullKey {
  readonly nativeId: string;
  readonly number: number;
}

/** Every write checks the forge's state first: it may be repeated after a crash. */
export interface Forge {
  /** The newest pull request from this branch, in whatever state. */
  find(branch: string): Promise<Answer<PullCore | null>>;
  open(pull: NewPull): Promise<Answer<PullCore>>;
  edit(number: number, change: PullChange): Promise<Answer<PullCore>>;
  addLabels(number: number, labels: readonly string[]): Promise<Answer<null>>;
  requestReview(number: number, reviewers: readonly string[]): Promise<Answer<null>>;
  markReady(nativeId: string): Promise<Answer<null>>;
  reply(nativeThreadId: string, body: string): Promise<Answer<null>>;
  read(number: number): Promise<Answer<PullCore>>;
  checks(sha: string): Promise<Answer<readonly Check[]>>;
  /** `paths`: the files that count as the pull request's own. */
  jobLog(job: number, paths: readonly string[]): Promise<Answer<JobLog>>;
  rerun(job: number): Promise<Answer<null>>;
  threads(pull: PullKey): Promise<Answer<readonly ReviewThread[]>>;
  /** Whether this user may write to the repository. */
  mayWrite(login: string): Promise<Answer<boolean>>;
  /** The newest commit of a branch. */
  tip(branch: string): Promise<Answer<string>>;
  rules(branch: string): Promise<Answer<BranchRules>>;
  merging(pull: PullKey): Promise<Answer<Merging>>;
  merge(nativeId: string, request: MergeRequest): Promise<Answer<null>>;
}

/** The facts of the repository, and the rights of the token. Asking changes nothing. */
export interface ForgeRights {
  repository(): Promise<Answer<RepositoryFacts>>;
  /** The user of the token. */
  user(): Promise<Answer<string>>;
  /** The version of an own server; null on the public host. */
  release(): Promise<Answer<string | null>>;
  mayReadReviews(): Promise<Answer<true>>;
  mayOpenPulls(base: string): Promise<Answer<true>>;
}

export function facts<T>(value: T): Answer<T> {
  return { kind: 'facts', value };
}

export function factsWithout<T>(value: T, missing: string): Answer<T> {
  return { kind: 'facts', value, missing };
}

export function unreadable(why: string): Answer<never> {
  return { kind: 'unreadable', why, cause: 'other' };
}
