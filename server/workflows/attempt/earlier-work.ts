// Restores the work of an earlier attempt, or of this one before it was interrupted, in the slot in
// which it continues. Also finds the conversation that a follow-up continues.

import { branchRef, restoreRoot } from '../../core/work/ref-names.ts';
import type { Failure } from '../../core/failure.ts';
import { GitRefusal } from '../../git/port.ts';
import type { SnapshotView } from '../../git/snapshot-port.ts';
import type { ContinuedWork } from '../../core/prompt/continued-prompt.ts';
import type { PresentWork } from '../../core/prompt/present-work.ts';
import {
  type AttemptRow,
  chosenSnapshot,
  type Claim,
  existingTask,
  folderOfTask,
  lastAttempt,
  setAttempt,
  taskById,
} from '../../store/port.ts';
import { gitFailed } from '../kit/git-trouble.ts';
import type { Uses } from '../kit/engine-ports.ts';
import type { Sha } from '../../git/sha.ts';

/** `drover/<task>/<attempt>` without its first segment. */
function labelOf(branch: string): string {
  return branch.slice('drover/'.length);
}

async function lastOf(engine: Uses<'git'>, branch: string): Promise<SnapshotView | null> {
  // A machine that is now dead may have made it.
  const last = await engine.git.lastSnapshot(labelOf(branch), 'anywhere');
  if (!last.ok) throw new GitRefusal(last.error);
  return last.value;
}

/** The ref to the snapshot that a person chose as the start of an attempt. */
export function restoreRef(taskId: string, attempt: number): string {
  return `${restoreRoot}${taskId}/${attempt}`;
}

/**
 * The snapshot that a person chose as the start of an attempt, made on any machine of a fleet.
 * Returns null if only a ref on one machine names it.
 */
export async function storedChoice(
  engine: Uses<'machineId' | 'store'>,
  { taskId, attempt }: Pick<Claim, 'attempt' | 'taskId'>,
): Promise<Sha | null> {
  return engine.machineId === '' ? null : chosenSnapshot(engine.store.db, taskId, attempt);
}

async function chosenFor(
  engine: Uses<'git'>,
  attempt: AttemptRow,
  stored: Sha | null,
): Promise<SnapshotView | null> {
  const commit = stored ?? (await engine.git.readRef(restoreRef(attempt.task_id, attempt.number)));
  if (commit === null) return null;
  const chosen = await engine.git.snapshotAt(commit);
  if (!chosen.ok) throw new GitRefusal(chosen.error);
  return chosen.value;
}

/** The commit that a new attempt starts from, and the branch of the attempt that made it. */
export interface EarlierCommit {
  readonly commit: Sha;
  readonly branch: string;
}

/**
 * Returns null if the attempt starts from its base alone. `stored`: the result of `storedChoice`.
 */
export async function startOfAttempt(
  engine: Uses<'git'>,
  attempt: AttemptRow,
  stored: Sha | null,
): Promise<EarlierCommit | null> {
  const chosen = await chosenFor(engine, attempt, stored);
  const branch = chosen === null ? attempt.continues_from : `drover/${chosen.label}`;
  if (branch === null) return null;
  const commit = chosen === null ? await endOfEarlier(engine, branch) : chosen.head;
  return commit === null ? null : { commit, branch };
}

/**
 * The last commit of an attempt, on its branch or at its agent's HEAD. Returns null if it made
 * none.
 */
async function endOfEarlier(engine: Uses<'git'>, branch: string): Promise<Sha | null> {
  const tip = await engine.git.readRef(branchRef(branch));
  const head = (await lastOf(engine, branch))?.head ?? null;
  if (tip === null || head === null || tip === head) return tip ?? head;
  return (await engine.git.isAncestor(tip, head)) ? head : tip;
}

/**
 * Restores uncommitted work on top of the commits that it was based on. If that fails or conflicts,
 * its snapshot is kept for reference.
 */
export async function restoreEarlier(
  engine: Uses<'git' | 'store'>,
  attempt: AttemptRow,
  slot: { readonly path: string; readonly hasCommitted: boolean; readonly stored: Sha | null },
): Promise<Failure | null> {
  const { path, hasCommitted, stored } = slot;
  const isInterrupted = attempt.base_sha !== null;
  const chosen = isInterrupted ? null : await chosenFor(engine, attempt, stored);
  if (chosen !== null && !hasCommitted) return noteChosen(engine, attempt, chosen);
  if (chosen !== null) return restoreChosen(engine, attempt, path, chosen);
  if (!hasCommitted) return null;
  const branch = isInterrupted ? attempt.branch : attempt.continues_from;
  if (branch === null) return null;
  const last = await lastOf(engine, branch);
  if (last === null) return null;
  // A commit made after the snapshot already includes it.
  const tip = await engine.git.readRef(branchRef(branch));
  const isLatest = isInterrupted || tip === null || tip === last.head;
  if (!isLatest && last.head !== (await endOfEarlier(engine, branch))) return null;
  const status = await engine.git.status(path);
  if (status.ok && isInterrupted && last.head !== status.value.head) return null;
  const done = await engine.git.restore({ path, commit: last.commit });
  return done.ok ? null : gitFailed(done.error);
}

async function restoreChosen(
  engine: Uses<'git' | 'store'>,
  attempt: AttemptRow,
  path: string,
  chosen: SnapshotView,
): Promise<Failure | null> {
  const done = await engine.git.restore({ path, commit: chosen.commit });
  return done.ok ? noteChosen(engine, attempt, chosen) : gitFailed(done.error);
}

async function noteChosen(
  engine: Uses<'store'>,
  attempt: AttemptRow,
  chosen: SnapshotView,
): Promise<null> {
  await engine.store.transaction((tx) =>
    setAttempt(tx, attempt.task_id, attempt.number, { continues_from: `drover/${chosen.label}` }),
  );
  return null;
}

/**
 * Describes the work that an agent without memory finds in its slot. Returns null if the slot
 * contains only the base.
 */
export async function presentWork(
  engine: Uses<'git' | 'machineId' | 'store'>,
  claim: Claim,
  attempt: AttemptRow,
): Promise<PresentWork | null> {
  if (claim.planning === true) return null;
  const path = await folderOfTask(engine.store.db, engine.machineId, claim.taskId);
  if (path === null || attempt.base_sha === null) return null;
  if (attempt.continues_from === null) {
    // The prompt can do without this. For a new attempt, one read of a ref shows that it has no
    // snapshot.
    const last = await engine.git.lastSnapshot(labelOf(attempt.branch));
    if (!last.ok || last.value === null) return null;
  }
  const status = await engine.git.status(path, attempt.base_sha);
  if (!status.ok) return null;
  const { changed: uncommitted, unfinished } = status.value;
  const { operation = null, marked = [] } = unfinished ?? {};
  const found = { uncommitted, operation, marked };
  if (attempt.continues_from === null) return { from: 'interrupted', ...found };
  const isThere = uncommitted.length > 0 || status.value.head !== attempt.base_sha;
  return isThere ? { from: 'earlier', ...found } : null;
}

export interface ContinuedSession extends ContinuedWork {
  /** The conversation that the agent resumes; null if it cannot. */
  readonly sessionId: string | null;
}

/** Returns null if the part continues no other task, or if that task was removed. */
export async function continuedWork(
  engine: Uses<'driverFor' | 'machineId' | 'store'>,
  claim: Claim,
  attempt: AttemptRow,
  part: string,
): Promise<ContinuedSession | null> {
  const { db } = engine.store;
  const { continues } = await existingTask(db, part);
  const before = continues === null ? null : await taskById(db, continues);
  if (before === null) return null;
  const last = await lastAttempt(db, before.id);
  return {
    id: before.id,
    title: before.title,
    description: before.description ?? '',
    summary: last?.summary ?? before.verdict_reason ?? '',
    landedSha: before.landed_sha,
    sessionId: last !== null && canFork(engine, claim, attempt, last) ? last.session_id : null,
  };
}

/**
 * A conversation can only be continued by the same agent on the same machine. A worker's
 * conversations end with the worker.
 */
function canFork(
  engine: Uses<'driverFor' | 'machineId'>,
  claim: Claim,
  attempt: AttemptRow,
  last: AttemptRow,
): boolean {
  if (engine.driverFor(claim.agent, claim.model).capabilities.forks !== true) return false;
  if (last.agent !== claim.agent || last.machine !== engine.machineId) return false;
  const isLocal = last.runs_on !== 'remote' && attempt.runs_on !== 'remote';
  return isLocal && last.session_started === 1 && last.planning === 0;
}
