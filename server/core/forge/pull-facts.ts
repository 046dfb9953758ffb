// A pull request as the forge reports it. Its texts are untrusted.

export interface PullCore {
  /** The provider's id. */
  readonly nativeId: string;
  readonly number: number;
  readonly url: string;
  readonly state: 'open' | 'merged' | 'closed';
  readonly isDraft: boolean;
  /** Null until the forge has computed it. */
  readonly isMergeable: boolean | null;
  readonly head: string;
  /** User name of its author. */
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
  /** The check's description of its failure. */
  readonly text: string;
  readonly annotations: readonly Annotation[];
  /** Number of the GitHub Actions job. Null for a check of another service. */
  readonly job: number | null;
}

export interface Annotation {
  readonly path: string;
  readonly line: number | null;
  readonly text: string;
}

/** A branch's rules for pull requests. */
export interface BranchRules {
  /** Names of checks that must pass. */
  readonly requiredChecks: readonly string[];
  readonly approvals: number;
  readonly needsLinearHistory: boolean;
  readonly needsSignatures: boolean;
  readonly needsCodeOwners: boolean;
  readonly hasQueue: boolean;
  /** Null if the branch allows every method of the repository. */
  readonly mergeMethods: readonly MergeMethod[] | null;
  /** Whether the branch also has the older branch protection, besides rulesets. */
  readonly isProtected: boolean;
}

/** The rules of a branch without protection. */
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
  /** URL of the page. Absent in facts that an older version of Drover stored. */
  readonly url?: string;
  readonly comments: readonly ReviewComment[];
}

export interface ReviewComment {
  readonly id: string;
  readonly author: string;
  readonly body: string;
  /** Time of its last change (Unix ms). */
  readonly atMs: number;
}

/** Why an agent gets a task. */
export type Cause =
  | { readonly kind: 'check'; readonly check: Check; readonly log?: string }
  | { readonly kind: 'thread'; readonly thread: ReviewThread }
  | { readonly kind: 'conflict'; readonly baseBranch: string; readonly baseSha: string };

export const mergeModes = ['person', 'auto', 'queue'] as const;
/** Who merges: a person, the forge once the rules allow it, or the forge's merge queue. */
export type MergeMode = (typeof mergeModes)[number];

export type MergeMethod = 'MERGE' | 'SQUASH' | 'REBASE';

/** The forge's progress with a requested merge. */
export interface Merging {
  readonly queue: { readonly position: number; readonly groupHead: string | null } | null;
  readonly isAuto: boolean;
  /** Why the queue last removed it. */
  readonly removed: string | null;
  readonly method: MergeMethod;
}

/**
 * `unknown`: the latest base cannot be read. `too_often`: the base moves faster than the gate runs.
 */
export type GateAge = 'newest' | 'older' | 'running' | 'too_often' | 'unknown';
