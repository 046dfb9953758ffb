// Names of the refs that Drover writes and of the branches that it reads. Each root is defined
// once.

export const headRoot = 'refs/heads/';
/** Root of Drover's refs that are not branches. */
export const droverRefRoot = 'refs/drover/';
/** Root of Drover's branches: attempts, epics' lines, results. */
export const droverHeadRoot = `${headRoot}drover/`;
/** The default prefix, here and on a shared remote. `[fleet] branch_prefix` changes the latter. */
export const droverBranchPrefix = 'drover/';
const branchPrefix = /^(?![-./])(?!.*(?:\.\.|\/\/|\/\.|\.lock\/))[A-Za-z0-9._/-]{0,58}[/_-]$/u;

/**
 * Whether the text can be a prefix for Drover's branches: it must end inside a folder name that no
 * user's branch has.
 */
export function isBranchPrefix(text: string): boolean {
  return branchPrefix.test(text) && text.includes('drover');
}
/** Tips of landing lines. */
export const landRoot = 'refs/drover/land/';
/** Snapshots of attempts. */
export const workRoot = 'refs/drover/work/';
/** Work that was kept before snapshots existed, and tips that are no longer on a line. */
export const rescueRoot = 'refs/drover/rescue/';
/** Commits that a person approved and that have not landed yet. */
export const approvedRoot = 'refs/drover/approved/';
/** Snapshots that a person chose as the start of an attempt. */
export const restoreRoot = 'refs/drover/restore/';
/** The previous state of the user's checkouts, by checkout, from before Drover moved them. */
export const beforeRoot = 'refs/drover/before/';
/** Refs that machines share, as this clone last fetched them. */
export const sharedRoot = 'refs/drover/shared/';
/** Fences, which say who may move a line in a fleet. */
export const fenceRoot = 'refs/drover/fence/';

/** The line's tip, from which all of its bases are taken. */
export function landingRef(branch: string): string {
  return `${landRoot}${branch}`;
}

export function branchRef(branch: string): string {
  return `${headRoot}${branch}`;
}

/** Keeps a former tip of the line reachable. */
export function rescueRef(branch: string, tip: string): string {
  return `${rescueRoot}lines/${branch}/${tip.slice(0, 12)}`;
}

/** The branch that keeps landed work while the line's own branch cannot follow. */
export function resultBranch(branch: string): string {
  return `drover/results/${branch}`;
}

/** The snapshots of one attempt. */
export function attemptWorkRef(taskId: string, attempt: number): string {
  return `${workRoot}${taskId}/${attempt}`;
}
