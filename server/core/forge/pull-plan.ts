// The requests to the forge for one tested state of an epic.

export const pullShapes = ['epic', 'stack'] as const;
/** One pull request for the epic, or one for each of its tasks on top of each other. */
export type PullShape = (typeof pullShapes)[number];

export interface PullRequestPlan {
  readonly epicId: string;
  readonly runId: string;
  /** The epic's line here. */
  readonly line: string;
  /** The branch here that gets the work once it is merged. */
  readonly target: string;
  readonly head: string;
  /** The tree of base and head merged, as it passed the gate. */
  readonly tree: string;
  /** The commit of the base that was tested with it. */
  readonly testedBase: string;
  /** On the forge. */
  readonly branch: string;
  readonly base: string;
  readonly isDraft: boolean;
  readonly reviewers: readonly string[];
  readonly labels: readonly string[];
  /** Merges of the forge that it takes back, instead of work of the epic. */
  readonly undoes?: readonly ForgeMerge[];
  /** The part of a stack that it brings, instead of the whole epic. */
  readonly level?: PlannedLevel;
}

/** One pull request of a stack, as it is pushed. */
export interface PlannedLevel {
  /** Rises from the bottom; a number is used once in an epic. */
  readonly position: number;
  readonly tasks: readonly string[];
  /** Commits of the epic's line whose changes it brings. */
  readonly commits: readonly string[];
  /** The head that Drover pushed before. Null if the branch is new. */
  readonly pushed: string | null;
}

/** The merge of an epic's pull request. */
export interface ForgeMerge {
  readonly number: number;
  /** On the base. */
  readonly commit: string;
  /** The head that was merged. */
  readonly head: string;
}

export function forgeBranch(epicId: string): string {
  return `drover/${epicId}`;
}

/** `round`: how many reverts of the epic were opened before. */
export function undoBranch(epicId: string, round: number): string {
  return `drover/undo-${epicId}-${round + 1}`;
}

/** True for a pull request that takes the epic's work back. */
export function isUndo(pull: { readonly epic_id: string; readonly branch: string }): boolean {
  return pull.branch.startsWith(`drover/undo-${pull.epic_id}-`);
}
