// How the refs of a line are called.

import type { Sha } from '../../git/sha.ts';

/** The tip that every base is taken from. */
export function landingRef(branch: string): string {
  return `refs/drover/land/${branch}`;
}

export function branchRef(branch: string): string {
  return `refs/heads/${branch}`;
}

/** A tip that was on the line once and is not any more stays within reach here. */
export function rescueRef(branch: string, tip: Sha): string {
  return `refs/drover/rescue/lines/${branch}/${tip.slice(0, 12)}`;
}

/** The branch that holds what has landed while the line's own branch cannot follow. */
export function resultBranch(branch: string): string {
  return `drover/results/${branch}`;
}
