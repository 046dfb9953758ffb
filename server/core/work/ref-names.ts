// The names of the refs that Drover writes, and of the branches that it reads: each root once.

export const headRoot = 'refs/heads/';
/** Every ref that is not a branch. */
export const droverRefRoot = 'refs/drover/';
/** Branches of Drover's own: attempts, lines of epics, results. */
export const droverHeadRoot = `${headRoot}drover/`;
/** Their prefix, here and on a shared remote unless `[fleet] branch_prefix` changes it. */
export const droverBranchPrefix = 'drover/';
const branchPrefix = /^(?![-./])(?!.*(?:\.\.|\/\/|\/\.|\.lock\/))[A-Za-z0-9._/-]{0,58}[/_-]$/u;

/**
 * Whether it can be the prefix of Drover's branches: a partial name that no person's branch has.
 */
export function isBranchPrefix(text: string): boolean {
  return branchPrefix.test(text) && text.includes('drover');
}
/** Tips of landing lines. */
export const landRoot = 'refs/drover/land/';
/** Snapshots of attempts. */
export const workRoot = 'refs/drover/work/';
/** Work that was kept before snapshots existed, and tips that a line has lost. */
export const rescueRoot = 'refs/drover/rescue/';
/** Commits that a person has approved and that have not landed yet. */
export const approvedRoot = 'refs/drover/approved/';
/** Snapshots from which a person wants an attempt to start. */
export const restoreRoot = 'refs/drover/restore/';
/** The state of the user's checkouts before Drover moved them, by checkout. */
export const beforeRoot = 'refs/drover/before/';
/** The refs that machines share, as this clone last fetched them. */
export const sharedRoot = 'refs/drover/shared/';
/** Who may move a line in a fleet. */
export const fenceRoot = 'refs/drover/fence/';

/** The tip that every base of a line is taken from. */
export function landingRef(branch: string): string {
  return `${landRoot}${branch}`;
}

export function branchRef(branch: string): string {
  return `${headRoot}${branch}`;
}

/** A tip that was on the line once and is not any more stays within reach here. */
export function rescueRef(branch: string, tip: string): string {
  return `${rescueRoot}lines/${branch}/${tip.slice(0, 12)}`;
}

/** The branch that holds landed work while the line's own branch cannot follow. */
export function resultBranch(branch: string): string {
  return `drover/results/${branch}`;
}

/** The snapshots of one attempt. */
export function attemptWorkRef(taskId: string, attempt: number): string {
  return `${workRoot}${taskId}/${attempt}`;
}
