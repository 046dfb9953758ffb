// How the refs of a line are called.

/** The tip that every base is taken from. */
export function landingRef(branch: string): string {
  return `refs/drover/land/${branch}`;
}

export function branchRef(branch: string): string {
  return `refs/heads/${branch}`;
}

/** The branch that holds what has landed while the line's own branch cannot follow. */
export function resultBranch(branch: string): string {
  return `drover/results/${branch}`;
}
