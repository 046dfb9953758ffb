// Chooses the commit that an attempt starts from. It must contain the landings of all of the task's
// blockers.

import type { Failure } from '../../core/failure.ts';
import { type MissingBase, storedCause } from '../../core/plan/block-cause.ts';
import { landingRef } from '../../core/work/ref-names.ts';
import type { Sha } from '../../git/sha.ts';
import {
  type AttemptRow,
  readBlockers,
  type Claim,
  taskAndSubTaskIds,
  forgetArrival,
  lastAttempt,
  setAttempt,
  taskById,
  type Tx,
} from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { updateLandedCommits } from '../line/landed.ts';
import { baseContaining, containsAll, isInReach, tipsOfLine } from '../line/open-line.ts';
import { missingBase } from '../line/advice.ts';
import { storedChoice } from './earlier-work.ts';
import { stoppedInstead } from './stops.ts';

/**
 * No base that this line can offer contains the commit of a blocker. `reason` names that commit.
 */
export interface NoBase {
  readonly kind: 'no_base';
  readonly reason: string;
  readonly cause: MissingBase;
  readonly landedOn: string | null;
  /** The task only has to wait, because its blocker was reset after the task was claimed. */
  readonly isReset?: boolean;
}

export interface BaseFacts {
  readonly attempt: AttemptRow;
  readonly blockers: Awaited<ReturnType<typeof readBlockers>>;
  /** The base of the task's other candidates; null if it is not a candidate. */
  readonly shared: Sha | null;
  /** The snapshot that a person chose as the start. */
  readonly stored: Sha | null;
}

/** All facts are read in parallel, because the database may be slow to reach. */
export async function baseFacts(
  engine: Uses<'machineId' | 'store'>,
  claim: Claim,
): Promise<BaseFacts> {
  const { db } = engine.store;
  const [attempt, blockers, shared, stored] = await Promise.all([
    lastAttempt(db, claim.taskId),
    readBlockers(db, claim.parts),
    baseOfCandidates(engine, claim.taskId),
    storedChoice(engine, claim),
  ]);
  if (attempt === null) throw new Error(`attempt of ${claim.taskId} is missing`);
  return { attempt, blockers, shared, stored };
}

export async function chooseBase(
  engine: Uses<'git' | 'machineId' | 'report' | 'settings' | 'store'>,
  claim: Claim,
  { attempt, blockers, shared }: BaseFacts,
  line: string,
  isSecond = false,
): Promise<Sha | NoBase | { readonly kind: 'failed'; readonly failure: Failure }> {
  const reset = await resetBlocker(engine, claim, blockers, line);
  if (reset !== null) return reset;
  const landed = blockers.flatMap((row) =>
    row.landed_sha === null ? [] : [{ ...row, sha: row.landed_sha }],
  );
  const commits = landed.map((row) => row.sha);
  const former = attempt.base_sha;
  // The attempt continues in the same worktree, unless a blocker has landed since it started.
  if (former !== null && (await containsAll(engine, former, commits))) return former;
  if (shared !== null && (await containsAll(engine, shared, commits))) return shared;
  const base = await baseContaining(engine, line, commits);
  if (!base.ok) return { kind: 'failed', failure: base.error };
  if (base.value !== null) return base.value;
  // After a rebase or an amend, the work exists under another commit.
  if (!isSecond && (await updateLandedCommits(engine, line, landed)))
    return chooseBase(engine, claim, await baseFacts(engine, claim), line, true);
  const tip = (await engine.git.readRef(landingRef(line))) ?? '';
  const seen = await tipsOfLine(engine, line);
  for (const { id, sha, landed_on } of landed) {
    if (sha === tip || (await engine.git.isAncestor(sha, tip))) continue;
    const blocker = { id, sha, landedOn: landed_on };
    const reason = await missingBase(engine, claim.taskId, blocker, line);
    // If the line's parent has the commit, no run can add it: the two conflict.
    const isNear = await isInReach(engine, line, sha);
    const cause = { kind: 'missing_base', line, sha, seen } as const;
    return { kind: 'no_base', reason, cause, landedOn: isNear ? null : landed_on };
  }
  const reason = `${line} and its parent can't be merged; merge them by hand`;
  const cause = { kind: 'missing_base', line, sha: null, seen } as const;
  return { kind: 'no_base', reason, cause, landedOn: null };
}

/**
 * A person may reset a blocker after the claim. Its row then has no commit, so this check would
 * accept any base.
 */
async function resetBlocker(
  engine: Uses<'store'>,
  { taskId }: Claim,
  blockers: Awaited<ReturnType<typeof readBlockers>>,
  line: string,
): Promise<NoBase | null> {
  const open = blockers.filter(({ status }) => status !== 'completed');
  if (open.length === 0) return null;
  // Sub-tasks and the parent run inside the same attempt, so they need no commit.
  const relatives = await taskAndSubTaskIds(engine.store.db, taskId);
  const reset = open.find(({ id }) => !relatives.includes(id));
  if (reset === undefined) return null;
  const reason = `its blocker ${reset.id} was reset in the meantime`;
  const cause = { kind: 'missing_base', line, sha: null } as const;
  return { kind: 'no_base', reason, cause, landedOn: null, isReset: true };
}

/** All candidates of a task start from the same commit, so that they can be compared. */
async function baseOfCandidates(engine: Uses<'store'>, taskId: string): Promise<Sha | null> {
  const row = await taskById(engine.store.db, taskId);
  return row === null || row.candidate_of === null ? null : row.base_sha;
}

/**
 * Returns a task that was claimed before Drover knew that its base lacks a commit. Blocks it for a
 * person, unless it only has to wait for a blocker that was reset or that landed on another line.
 */
export async function returnWithoutBase(
  engine: Uses<'clock' | 'store'>,
  tx: Tx,
  claim: Claim,
  { reason, cause, landedOn, isReset = false }: Omit<NoBase, 'kind'>,
): Promise<void> {
  if (await stoppedInstead(engine, tx, claim)) return;
  await setAttempt(tx, claim.taskId, claim.attempt, { state: 'interrupted' });
  const fence = { taskId: claim.taskId, epoch: claim.epoch, runId: claim.runId };
  const isElsewhere = landedOn !== null && landedOn !== cause.line && cause.sha !== null;
  if (isElsewhere) await forgetArrival(tx, cause.line, cause.sha);
  if (isReset || isElsewhere) {
    const set = { phase: null };
    const event = 'task.returned';
    await engine.store.transition(tx, { ...fence, to: 'ready', event, data: { reason }, set });
    return;
  }
  await engine.store.transition(tx, {
    ...fence,
    to: 'blocked',
    event: 'task.blocked',
    data: { reason },
    set: { blocked_reason: reason, last_error: reason, blocked_by: storedCause(cause) },
  });
}
