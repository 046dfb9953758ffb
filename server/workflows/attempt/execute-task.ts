// The workflow of one attempt: worktree, setup, agent (part by part), commit, landing queue.

import { storedCause } from '../../core/plan/block-cause.ts';
import type { Failure } from '../../core/failure.ts';
import type { DurableRun } from '../../durable/port.ts';
import {
  readCandidateTask,
  type Claim,
  existingRun,
  existingTask,
  goesOnAfter,
  markRemoteUnreachable,
  notePlace,
  releaseSlot,
  type RunRow,
  setAttempt,
  type Tx,
} from '../../store/port.ts';
import { gateCandidate } from './candidates.ts';
import { blockTask, releaseWithoutAttempt, recordFailure } from './attempt-ends.ts';
import { returnWithoutBase } from './chosen-base.ts';
import { endLeftAgent } from '../landing/orphan-commands.ts';
import { passingFailure } from '../kit/git-trouble.ts';
import type { EngineOfRun } from '../kit/engine-of-run.ts';
import type { AttemptOfTask, Engine, StartedAttempt, Uses } from '../kit/engine-ports.ts';
import { makePlan } from './plan-attempt.ts';
import { nameKeptRefs } from './kept-work.ts';
import { holdFinished, republishWork } from './refused-work.ts';
import { isStopRequested, settleStop, stoppedInstead } from './stops.ts';
import { chooseGateCommand, submitLanding } from './submission.ts';
import { workParts } from './work-parts.ts';
import { type PlaceOutcome, prepareWorktree } from './worktree-step.ts';

export const executeWorkflow = 'execute-task';

export function executeWorkflowId(claim: AttemptOfTask): string {
  return `exec/${claim.taskId}/${claim.epoch}`;
}

/**
 * Key of an attempt, which serializes access to its processes and its worktree within this process.
 */
export function attemptKey(taskId: string, attempt: number): string {
  return `${taskId}/${attempt}`;
}

export async function executeTask(
  engine: EngineOfRun,
  run: DurableRun<Tx>,
  claim: Claim,
): Promise<string> {
  const { switchboard } = engine;
  return switchboard.turns.run(claim.taskId, () =>
    switchboard.turns.run(attemptKey(claim.taskId, claim.attempt), () =>
      switchboard.untilStopped([claim], (stopped) =>
        executeOrGoOnLater({
          engine,
          run,
          claim,
          signal: AbortSignal.any([run.signal, stopped]),
        }),
      ),
    ),
  );
}

/**
 * A temporary problem of this machine can throw out of any step. It is handled here because only
 * here can a running agent be stopped; otherwise that agent would run next to its successor.
 */
async function executeOrGoOnLater(begun: Omit<StartedAttempt, 'runRow'>): Promise<string> {
  const { engine, run, claim } = begun;
  try {
    return await executeUntilStopped(begun);
  } catch (error) {
    const reason = passingFailure(error);
    if (reason === null || run.signal.aborted) throw error;
    engine.report(error, `working on ${claim.taskId}`);
    await endLeftAgent(engine, claim.taskId, claim.epoch);
    await run.commit('cut_short', async (tx) => {
      await engine.store.transition(tx, { ...startOf(claim), data: { attempt: claim.attempt } });
      await recordFailure(engine, tx, claim, reason);
    });
    return 'failed';
  }
}

async function executeUntilStopped(begun: Omit<StartedAttempt, 'runRow'>): Promise<string> {
  const { engine, run, claim, signal } = begun;
  const [runRow, isStopped, candidate] = await Promise.all([
    existingRun(engine.store.db, claim.runId),
    isStopRequested(engine, claim),
    readCandidateTask(engine.store.db, claim.taskId),
  ]);
  const started = { ...begun, runRow };
  if (isStopped) return settleStop(engine, run, claim);
  const isCandidate = candidate !== null;
  if (claim.commitSha !== null) {
    if (!(await republishWork(engine, run, claim, claim.commitSha, signal))) return 'unpublished';
    if (!isCandidate) return landAgain(engine, run, claim, runRow, claim.commitSha);
    await run.commit('committed', (tx) => goOnWithWork(engine, tx, claim, claim.commitSha));
    return gateCandidate(started);
  }
  const placed = await run.step(
    'worktree_created',
    () => prepareWorktree(engine, claim, runRow, signal),
    (tx, outcome) => recordPlace(engine, tx, claim, outcome),
  );
  if (placed.kind === 'no_base' || placed.kind === 'cut_off') return placed.kind;
  if (placed.kind === 'failed') return failedPlace(engine, run, claim, placed.failure);
  const attempt = { ...started, place: placed.place };
  if (claim.planning === true) return makePlan(attempt);
  const ended = await workParts(attempt);
  if (ended !== null) return ended;
  if (isCandidate) return gateCandidate(started);
  engine.durable.wake();
  return 'submitted';
}

/**
 * Queues the landing of an attempt that had committed its work before it was interrupted. No step
 * is repeated.
 */
async function landAgain(
  engine: Uses<'durable' | 'machineId' | 'settings' | 'store'>,
  run: DurableRun<Tx>,
  claim: Claim,
  runRow: RunRow,
  commitSha: string,
): Promise<string> {
  await run.commit('committed', async (tx) => {
    const task = await existingTask(tx, claim.taskId);
    await goOnWithWork(engine, tx, claim, commitSha);
    await setAttempt(tx, claim.taskId, claim.attempt, { state: 'submitted' });
    const gateCommand = chooseGateCommand(engine, runRow, task);
    await submitLanding(engine, tx, claim, { line: runRow.line, commitSha, gateCommand });
  });
  engine.durable.wake();
  return 'submitted';
}

async function goOnWithWork(
  engine: Uses<'store'>,
  tx: Tx,
  claim: Claim,
  commitSha: string | null,
): Promise<void> {
  await engine.store.transition(tx, {
    ...startOf(claim),
    data: { attempt: claim.attempt, agent: claim.agent, committed: commitSha },
    set: { phase: 'gate', commit_sha: commitSha },
  });
  await releaseSlot(tx, 'task', claim.taskId);
}

function startOf({ taskId, epoch, runId }: Claim) {
  const change = { from: ['claimed'], to: 'in_progress', event: 'task.started' } as const;
  return { taskId, epoch, runId, ...change };
}

async function recordPlace(
  engine: Uses<'clock' | 'git' | 'machineId' | 'mask' | 'store'>,
  tx: Tx,
  claim: Claim,
  outcome: PlaceOutcome,
): Promise<void> {
  const { store } = engine;
  if (outcome.kind === 'no_base') return returnWithoutBase(engine, tx, claim, outcome);
  if (outcome.kind === 'cut_off') {
    await markRemoteUnreachable(tx, engine.machineId);
    await releaseSlot(tx, 'task', claim.taskId);
    return releaseWithoutAttempt(engine, tx, claim, engine.mask(outcome.reason));
  }
  await store.transition(tx, {
    ...startOf(claim),
    data: {
      attempt: claim.attempt,
      agent: claim.agent,
      ...(typeof claim.model === 'string' ? { model: claim.model } : {}),
    },
  });
  if (outcome.kind === 'failed') return;
  const { place } = outcome;
  await nameKeptRefs(tx, store, place.keptRefs, claim.taskId);
  await notePlace(tx, claim, place);
  await setAttempt(tx, claim.taskId, claim.attempt, {
    base_sha: place.base,
    worktree_path: place.path,
  });
  await store.append(tx, {
    type: 'worktree.ready',
    taskId: claim.taskId,
    runId: claim.runId,
    data: {
      path: place.path,
      base: place.base,
      created: place.created,
      branch: claim.branch,
      ...repositoryNotes(engine),
    },
  });
}

/** Adds notes to the task about features that worktrees of this repository lack. */
function repositoryNotes(engine: Uses<'git'>): { readonly notes?: readonly string[] } {
  const { hasSubmodules, usesLfs } = engine.git.facts;
  const notes = [
    ...(hasSubmodules
      ? [
          'submodules are not checked out here; add "git submodule update --init" to [setup] command',
        ]
      : []),
    ...(usesLfs
      ? ['files in Git LFS are fetched by git lfs at checkout, where it is installed']
      : []),
  ];
  return notes.length === 0 ? {} : { notes };
}

async function failedPlace(
  engine: Engine,
  run: DurableRun<Tx>,
  claim: Claim,
  found: Failure,
): Promise<string> {
  if (await isStopRequested(engine, claim)) return settleStop(engine, run, claim);
  const reason = { ...found, message: engine.mask(found.message) };
  await run.commit('worktree_failed', async (tx) => {
    if (typeof claim.finishedPart === 'string') {
      return holdFinished(engine, tx, claim, reason.message, null);
    }
    const goesOn = await goesOnAfter(tx, claim, reason);
    const isPassing = reason.kind !== 'setup_failed' || goesOn !== null;
    if (isPassing) return recordFailure(engine, tx, claim, reason);
    if (await stoppedInstead(engine, tx, claim)) return;
    await blockTask(engine, tx, claim, reason, {
      blocked_reason: `setup: ${reason.message}`,
      last_error: reason.message,
      blocked_by: storedCause({ kind: 'setup' }),
    });
    await releaseSlot(tx, 'task', claim.taskId);
  });
  return 'failed';
}
