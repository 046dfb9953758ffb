// The data that Drover reads from a forge. "Not read" is a separate result and never means "none".

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
      /** The part that could not be read, as a clause; absent if everything was read. */
      readonly missing?: string;
    }
  | Unreadable
  /** The host accepts no more requests until then (Unix ms). */
  | { readonly kind: 'limited'; readonly untilMs: number };

export interface Unreadable {
  readonly kind: 'unreadable';
  /** A sentence for people, with the remedy if one exists. */
  readonly why: string;
  /**
   * `absent`: the host does not have it or hides it from this token. `signed_out`: a token may
   * help. `refused`: this token lacks permissions. `invalid`: the request itself is wrong.
   */
  readonly cause: 'absent' | 'signed_out' | 'refused' | 'invalid' | 'other';
  /** The permissions that the host says a token needs. */
  readonly needs?: string;
}

export interface Tracker {
  /** Issues with their edges, and their sub-issues to any depth. Excludes pull requests. */
  issues(query: IssueQuery): Promise<Answer<readonly Issue[]>>;
  /**
   * Makes our comment with the marker contain this text: creates it, edits it, or leaves it alone
   * if it already does. Never touches another user's comment with the marker.
   */
  keepComment(issue: IssueRef, marker: string, body: string): Promise<Answer<null>>;
  /** The user or App of the token. */
  login(): Promise<Answer<string>>;
  /** Resolves with true if the issue now belongs to this project, false if it does not yet. */
  claim(issue: IssueRef, claimant: Claimant): Promise<Answer<boolean>>;
  withdraw(issue: IssueRef, label: string): Promise<Answer<null>>;
  /** Closes it as done. Does nothing if it is already closed. */
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

/** `head`: the only commit that may be merged. */
export interface MergeRequest {
  readonly how: 'auto' | 'queue';
  readonly head: string;
  readonly method: MergeMethod;
}

export interface PullKey {
  readonly nativeId: string;
  readonly number: number;
}

/** Every write checks the forge's state first, because it may be repeated after a crash. */
export interface Forge {
  /** The latest pull request from this branch, in any state. */
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
  /** Whether this user has write access to the repository. */
  mayWrite(login: string): Promise<Answer<boolean>>;
  /** The latest commit of a branch. */
  tip(branch: string): Promise<Answer<string>>;
  rules(branch: string): Promise<Answer<BranchRules>>;
  merging(pull: PullKey): Promise<Answer<Merging>>;
  merge(nativeId: string, request: MergeRequest): Promise<Answer<null>>;
}

/** The repository's facts and the token's permissions, read without changing anything. */
export interface ForgeRights {
  repository(): Promise<Answer<RepositoryFacts>>;
  /** The user of the token. */
  user(): Promise<Answer<string>>;
  /** The release of a self-hosted server; null on the public host. */
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
