// After the commit, facts decide the next step: a review, an end without a commit, or the landing
// queue.

import { resolveRunSettings } from '../kit/run-settings.ts';
import { attemptWorkRef } from '../../core/work/ref-names.ts';
import { failure, type Failure } from '../../core/failure.ts';
import { hasGate, type TestMode, type TestScope } from '../../core/plan/task.ts';
import { judgeWork, type Judgement, type Undecided } from '../../core/plan/verdict.ts';
import {
  attemptsSince,
  readCandidateTask,
  type Claim,
  existingTask,
  handOverWork,
  queueLanding,
  refsKeptWhenReturned,
  releaseSlot,
  type RunRow,
  setAttempt,
  type Tx,
  noOwner,
} from '../../store/port.ts';
import { beginAnew, recordFailure } from './attempt-ends.ts';
import { takesOver } from './fallback.ts';
import type { AttemptInRun, Uses } from '../kit/engine-ports.ts';
import type { CommittedWork } from '../kit/merge-check.ts';
import { stoppedInstead } from './stops.ts';
import type { Place } from './worktree-step.ts';
import type { CommitLeftoversOutcome, IgnoredResults } from '../../git/slot-port.ts';
import { type KeptNote, nameKeptRefs } from './kept-work.ts';

interface JudgedTask {
  readonly fallback_from: number;
  readonly type: string;
  readonly test_mode: TestMode;
  readonly test_scope: TestScope;
  readonly test_command: string | null;
}

/** The commit that an attempt submits, with its base. */
export interface Submission {
  readonly runRow: RunRow;
  readonly place: Place;
  readonly committed: CommittedWork;
  readonly task: JudgedTask;
  readonly summary: string;
}

export async function submit(
  engine: Uses<'chance' | 'clock' | 'durable' | 'machineId' | 'mask' | 'settings' | 'store'>,
  tx: Tx,
  claim: Claim,
  submission: Submission,
): Promise<void> {
  const { committed, task } = submission;
  const { changed, held, heldFor = {}, commit, protected: guarded, aside = false } = committed;
  const { ignored, unportable = {}, heldCauses = {}, undecided = null } = committed;
  const summary = engine.mask(submission.summary);
  const left = ignored === undefined ? {} : { ignored };
  const reasons = { heldFor, unportable, heldCauses, undecided };
  const facts = { summary, changed, held, ...reasons, protected: guarded, aside, ...left };
  const judgement = judgeWork({ ...facts, task });
  const [candidate, wasCutOff] = await Promise.all([
    readCandidateTask(tx, claim.taskId),
    !changed && workWasCutOff(tx, claim),
  ]);
  const isCandidate = candidate !== null;
  const isUntouched = !changed && held.length === 0 && !isCandidate;
  const conflict = isUntouched ? await conflictLeft(tx, claim) : null;
  await setAttempt(tx, claim.taskId, claim.attempt, { commit_sha: changed ? commit : null });
  if (typeof ignored?.ref === 'string') {
    const note = { ...ignoredNote, ...(ignored.commit !== null && { commit: ignored.commit }) };
    await nameKeptRefs(tx, engine.store, [ignored.ref], claim.taskId, note);
  }
  if (conflict !== null) return recordFailure(engine, tx, claim, conflict.reason, conflict.files);
  switch (judgement.next.kind) {
    case 'complete_without_commit':
      // If no candidate changed anything, no choice is necessary.
      if (isCandidate)
        return review(engine, tx, claim, judgement, {
          held,
          protected: [],
          commit: null,
          wasCutOff,
        });
      return completeWithoutCommit(engine, tx, claim, judgement.reason);
    case 'needs_review':
      return review(engine, tx, claim, judgement, {
        held,
        protected: guarded,
        undecided,
        commit: changed ? commit : null,
        wasCutOff,
        ...left,
      });
    case 'land':
      if (isCandidate) return holdCandidate(engine, tx, claim, committed, judgement.reason);
      return queueWork(engine, tx, claim, submission, judgement.reason);
  }
}

const ignoredNote: KeptNote = { reason: 'ignored', author: 'agent' };

/**
 * Returns the earlier conflicting work if this attempt changed nothing: the conflict is not
 * resolved, and that work still has to land.
 */
async function conflictLeft(
  tx: Tx,
  claim: Claim,
): Promise<{ readonly reason: Failure; readonly files: readonly string[] } | null> {
  const task = await existingTask(tx, claim.taskId);
  const since = await attemptsSince(tx, claim.taskId, task.fallback_from);
  const before = since.filter(({ number }) => number < claim.attempt);
  const worked = before.findLast(({ commit_sha: commit }) => commit !== null);
  if (worked?.failure_kind !== 'conflict') return null;
  const message = `${worked.error ?? 'The work conflicts with landed work.'} A further attempt changed nothing.`;
  const files = JSON.parse(task.conflict_files) as string[];
  return { reason: failure('conflict', message), files };
}

/** A candidate stops after its own gate and waits for the choice. */
async function holdCandidate(
  engine: Uses<'store'>,
  tx: Tx,
  claim: Claim,
  { commit }: CommitLeftoversOutcome,
  verdictReason: string,
): Promise<void> {
  await handOverWork(tx, claim, { commit, verdictReason });
  await releaseSlot(tx, 'task', claim.taskId);
  await engine.store.append(tx, {
    type: 'task.committed',
    taskId: claim.taskId,
    runId: claim.runId,
    data: { commit, branch: claim.branch },
  });
}

async function queueWork(
  engine: Uses<'durable' | 'machineId' | 'settings' | 'store'>,
  tx: Tx,
  claim: Claim,
  { runRow, place, committed: { commit }, task }: Submission,
  verdictReason: string,
): Promise<void> {
  await handOverWork(tx, claim, { commit, verdictReason });
  await setAttempt(tx, claim.taskId, claim.attempt, { state: 'submitted' });
  const gateCommand = chooseGateCommand(engine, runRow, task);
  await submitLanding(engine, tx, claim, { line: runRow.line, commitSha: commit, gateCommand });
  await releaseSlot(tx, 'task', claim.taskId);
  await engine.store.append(tx, {
    type: 'task.committed',
    taskId: claim.taskId,
    runId: claim.runId,
    data: { commit, branch: claim.branch, base: place.base },
  });
}

/** The gate command for the task; null if it has none. */
export function chooseGateCommand(
  engine: Uses<'settings'>,
  run: Pick<RunRow, 'flags' | 'settings'>,
  task: Omit<JudgedTask, 'fallback_from' | 'type'>,
): string | null {
  const covered = hasGate({
    testMode: task.test_mode,
    testScope: task.test_scope,
  });
  return covered ? (task.test_command ?? gateOfRun(engine, run)) : null;
}

/**
 * The gate given with the run's command, which applies even if other settings are in force when its
 * work lands.
 */
export function gateOfRun(
  engine: Uses<'settings'>,
  run: Pick<RunRow, 'flags' | 'settings'> | null | undefined,
): string | null {
  const flags = JSON.parse(run?.flags ?? '{}') as Readonly<Record<string, unknown>>;
  const given = flags['gate.command'];
  return typeof given === 'string' && given.trim() !== ''
    ? given
    : resolveRunSettings(engine, run).gateCommand;
}

export const landWorkflow = 'land-tasks';

const landPrefix = 'land:';

export function landQueue(line: string): string {
  return `${landPrefix}${line}`;
}

/**
 * Allows one landing at a time per line. In a fleet, every machine applies this without
 * coordination (`sharedQueueLimits`).
 */
export function limitLandQueue(engine: Uses<'durable' | 'machineId'>, line: string): void {
  if (engine.machineId === '') engine.durable.queue(landQueue(line), { concurrency: 1 });
}

/**
 * A separate queue, so that a base gate does not wait for the line's landings. It runs on the same
 * machines.
 */
export function baseGateQueue(line: string): string {
  return `${landPrefix}${line} base`;
}

/** The line whose landings or tip gates use the queue; null for other queues. */
export function lineOfQueue(queue: string): string | null {
  if (!queue.startsWith(landPrefix)) return null;
  return queue.slice(landPrefix.length).split(' ')[0] ?? null;
}

interface QueuedLanding {
  readonly line: string;
  readonly commitSha: string;
  readonly gateCommand: string | null;
}

export async function submitLanding(
  engine: Uses<'durable' | 'machineId' | 'store'>,
  tx: Tx,
  claim: AttemptInRun,
  landing: QueuedLanding,
): Promise<void> {
  // Task and epoch are not unique: an approved task that was returned can be approved again in the
  // same epoch.
  const workflowId = `land/${claim.taskId}/${claim.epoch}/${engine.store.sources.uuid()}`;
  await queueLanding(tx, engine.store.sources, {
    workflowId,
    taskId: claim.taskId,
    epoch: claim.epoch,
    attempt: claim.attempt,
    ...landing,
  });
  const { line } = landing;
  const queue = landQueue(line);
  limitLandQueue(engine, line);
  const input = { line, runId: claim.runId };
  await engine.durable.startIn(tx, landWorkflow, workflowId, input, { queue });
}

interface ReviewFacts {
  readonly held: readonly string[];
  readonly protected: readonly string[];
  readonly undecided?: Undecided | null;
  readonly commit: string | null;
  /** Whether the work from before an interruption is in snapshots. */
  readonly wasCutOff: boolean;
  readonly ignored?: IgnoredResults;
}

function reviewedFiles(
  kind: string,
  left: readonly string[],
  { protected: guarded, undecided }: ReviewFacts,
): readonly string[] {
  if (kind === 'unmerged') return [...(undecided?.marked ?? []), ...(undecided?.asBase ?? [])];
  return kind === 'protected' ? guarded : left;
}

async function review(
  engine: Uses<'chance' | 'clock' | 'mask' | 'settings' | 'store'>,
  tx: Tx,
  claim: Claim,
  judgement: Judgement,
  facts: ReviewFacts,
): Promise<void> {
  if (await stoppedInstead(engine, tx, claim)) return;
  const kind = judgement.next.kind === 'needs_review' ? judgement.next.review : 'no_changes';
  const isEmpty = kind === 'no_changes' && facts.ignored === undefined;
  if (isEmpty && facts.wasCutOff) return beginAnew(engine, tx, claim, cutOffWords(claim));
  if (isEmpty && (await hasAnotherTry(engine, tx, claim))) {
    return recordFailure(engine, tx, claim, failure('no_changes', judgement.reason));
  }
  const left = kind === 'no_changes' ? (facts.ignored?.files ?? []) : facts.held;
  await setAttempt(tx, claim.taskId, claim.attempt, {
    state: 'submitted',
    failure_kind: kind,
    ended_at_ms: engine.clock.now(),
  });
  await engine.store.transition(tx, {
    taskId: claim.taskId,
    epoch: claim.epoch,
    to: 'needs_review',
    event: 'task.needs_review',
    runId: claim.runId,
    data: {
      kind,
      files: reviewedFiles(kind, left, facts),
      reason: judgement.reason,
    },
    set: {
      review_kind: kind,
      held_files: JSON.stringify(left),
      commit_sha: facts.commit,
      verdict: judgement.verdict,
      verdict_reason: judgement.reason,
      ...noOwner,
      last_error: judgement.reason,
    },
  });
  // The slot has the only copy of files that were too many for a snapshot.
  const isOnlyCopy = typeof facts.ignored?.unkept === 'string';
  if (kind === 'no_changes' && !isOnlyCopy) await releaseSlot(tx, 'task', claim.taskId);
}

/**
 * An attempt that changed something before it was interrupted and nothing afterwards must not count
 * as "no changes": its work is in snapshots. Read from the feed, because git must not be called in
 * a transaction.
 */
async function workWasCutOff(tx: Tx, { taskId, attempt }: Claim): Promise<boolean> {
  const kept = await refsKeptWhenReturned(tx, taskId, attempt);
  return kept.includes(attemptWorkRef(taskId, attempt));
}

function cutOffWords({ attempt }: Claim): string {
  return `attempt ${attempt} was interrupted, and what it had made was no longer in its worktree: a new one continues from its snapshot`;
}

/** Whether another agent takes over before a person is asked about an attempt without changes. */
async function hasAnotherTry(engine: Uses<'settings'>, tx: Tx, claim: Claim): Promise<boolean> {
  const next = await takesOver(engine, tx, claim, 'no_changes');
  if (next === null) return false;
  const task = await existingTask(tx, claim.taskId);
  return task.attempts + 1 < task.max_attempts;
}

async function completeWithoutCommit(
  engine: Uses<'clock' | 'store'>,
  tx: Tx,
  claim: Claim,
  reason: string | null,
): Promise<void> {
  await setAttempt(tx, claim.taskId, claim.attempt, {
    state: 'succeeded',
    ended_at_ms: engine.clock.now(),
  });
  await engine.store.transition(tx, {
    taskId: claim.taskId,
    epoch: claim.epoch,
    to: 'completed',
    event: 'task.completed',
    runId: claim.runId,
    data: { attempt: claim.attempt, commit: null },
    set: { verdict: 'pass', verdict_reason: reason },
  });
  await releaseSlot(tx, 'task', claim.taskId);
}
