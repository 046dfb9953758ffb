// A pull request as the forge reports it. Its texts were written by strangers.

export interface PullCore {
  /** The provider's own id. */
  readonly nativeId: string;
  readonly number: number;
  readonly url: string;
  readonly state: 'open' | 'merged' | 'closed';
  readonly isDraft: boolean;
  /** Null until the forge has computed it. */
  readonly isMergeable: boolean | null;
  readonly head: string;
  /** User name of the account that opened it. */
  readonly author: string;
  readonly baseBranch: string;
  readonly baseSha: string;
  readonly mergeCommit: string | null;
  readonly body: string;
}

export interface Check {
  readonly name: string;
  readonly state: 'green' | 'red' | 'running';
  readonly url: string;
  /** The check's own description of its failure. */
  readonly text: string;
  readonly annotations: readonly Annotation[];
}

export interface Annotation {
  readonly path: string;
  readonly line: number | null;
  readonly text: string;
}

/** The rules of a branch for pull requests. */
export interface BranchRules {
  /** Names of checks that must be green. */
  readonly requiredChecks: readonly string[];
  readonly approvals: number;
  readonly needsLinearHistory: boolean;
  readonly needsSignatures: boolean;
  readonly needsCodeOwners: boolean;
  readonly hasQueue: boolean;
  /** Null if every method of the repository is allowed. */
  readonly mergeMethods: readonly MergeMethod[] | null;
  /** It has the older kind of protection, beside rulesets. */
  readonly isProtected: boolean;
}

/** A branch without protection. */
export const noRules: BranchRules = {
  requiredChecks: [],
  approvals: 0,
  needsLinearHistory: false,
  needsSignatures: false,
  needsCodeOwners: false,
  hasQueue: false,
  mergeMethods: null,
  isProtected: false,
};

/** A thread of review comments, or the last word of a reviewer on all of it (without a path). */
export interface ReviewThread {
  readonly id: string;
  readonly kind: 'thread' | 'review' | 'approval';
  readonly isOpen: boolean;
  readonly path: string | null;
  readonly line: number | null;
  /** Its page; absent in facts that an older Drover has stored. */
  readonly url?: string;
  readonly comments: readonly ReviewComment[];
}

export interface ReviewComment {
  readonly id: string;
  readonly author: string;
  readonly body: string;
  /** Unix ms of its last change. */
  readonly atMs: number;
}

/** Why an agent gets something to do. */
export type Cause =
  | { readonly kind: 'check'; readonly check: Check }
  | { readonly kind: 'thread'; readonly thread: ReviewThread }
  | { readonly kind: 'conflict'; readonly baseBranch: string; readonly baseSha: string };

export const mergeModes = ['person', 'auto', 'queue'] as const;
/** A person merges it, the forge does when it may, or the forge's merge queue does. */
export type MergeMode = (typeof mergeModes)[number];

export type MergeMethod = 'MERGE' | 'SQUASH' | 'REBASE';

/** How far the forge is with a merge that was requested. */
export interface Merging {
  readonly queue: { readonly position: number; readonly groupHead: string | null } | null;
  readonly isAuto: boolean;
  /** Why it was last removed from the queue. */
  readonly removed: string | null;
  readonly method: MergeMethod;
}

/** `unknown`: the newest base cannot be read. `too_often`: it moves faster than the gate runs. */
export type GateAge = 'newest' | 'older' | 'running' | 'too_often' | 'unknown';
