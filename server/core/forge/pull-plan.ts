// The requests to the forge for one tested state of an epic.

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
  /** On the forge. */
  readonly branch: string;
  readonly base: string;
  readonly isDraft: boolean;
  readonly reviewers: readonly string[];
  readonly labels: readonly string[];
}

export function forgeBranch(epicId: string): string {
  return `drover/${epicId}`;
}
