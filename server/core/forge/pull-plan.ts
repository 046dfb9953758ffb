// The requests to the forge for one tested state of an epic.

export const pullShapes = ['epic', 'stack'] as const;
/**
 * `epic`: one pull request for the whole epic. `stack`: one for each task, each based on the
 * previous one.
 */
export type PullShape = (typeof pullShapes)[number];

export interface PullRequestPlan {
  readonly epicId: string;
  readonly runId: string;
  /** The epic's local line. */
  readonly line: string;
  /** The local branch that receives the work after the merge. */
  readonly target: string;
  readonly head: string;
  /** The tree of the merged base and head that passed the gate. */
  readonly tree: string;
  /** The base commit that was tested with it. */
  readonly testedBase: string;
  /** The branch on the forge. */
  readonly branch: string;
  readonly base: string;
  readonly isDraft: boolean;
  readonly reviewers: readonly string[];
  readonly labels: readonly string[];
  /** Merges by the forge that this pull request reverts. Absent for work of an epic. */
  readonly undoes?: readonly ForgeMerge[];
  /** The level of the stack that this pull request brings. Absent if it brings the whole epic. */
  readonly level?: PlannedLevel;
}

/** A level of a stack when it is pushed. */
export interface PlannedLevel {
  /** Increases from the bottom to the top. A number is never reused within an epic. */
  readonly position: number;
  readonly tasks: readonly string[];
  /** Commits of the epic's line whose changes the level contains. */
  readonly commits: readonly string[];
  /** The head that Drover pushed before. Null if the branch is new. */
  readonly pushed: string | null;
}

/** The forge's merge of an epic's pull request. */
export interface ForgeMerge {
  readonly number: number;
  /** The merge commit on the base. */
  readonly commit: string;
  /** The head that the forge merged. */
  readonly head: string;
}

export function forgeBranch(epicId: string): string {
  return `drover/${epicId}`;
}

/** `round`: the number of earlier reverts of the epic. */
export function undoBranch(epicId: string, round: number): string {
  return `drover/undo-${epicId}-${round + 1}`;
}

/** Whether the pull request reverts the epic's work. */
export function isUndo(pull: { readonly epic_id: string; readonly branch: string }): boolean {
  return pull.branch.startsWith(`drover/undo-${pull.epic_id}-`);
}
