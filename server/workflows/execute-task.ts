// The workflow of one attempt: worktree, setup, agent (part by part), commit, then into the landing queue.

import type { AgentOutcome } from '../agents/port.ts';
import { failure, type Failure } from '../core/failure.ts';
import type { DurableRun } from '../durable/port.ts';
import type { CommitLeftoversOutcome } from '../git/port.ts';
import {
  beginSubTask,
  type Claim,
  releaseSlot,
  type RunRow,
  setAttempt,
  type Tx,
} from '../store/port.ts';
import { type PartOutcome, runPart } from './agent-step.ts';
import { blockFromOutside, recordFailure, waitForAccount, waitForBase } from './attempt-ends.ts';
import { endAtBudget } from './budget-ends.ts';
import type { Engine } from './parts.ts';
import { recordPart } from './part-record.ts';
import { nameRescueRefs } from './rescue-refs.ts';
import { isStopRequested, settleStop, stoppedInstead } from './stops.ts';
import { gateOf, submit, submitLanding } from './submission.ts';
import { type Place, type PlaceOutcome, prepareWorktree } from './worktree-step.ts';

export const executeWorkflow = 'execute-task';
export const agentQueue = 'agents';

export function executeWorkflowId(claim: Pick<Claim, 'taskId' | 'epoch'>): string {
  return `exec/${claim.taskId}/${claim.epoch}`;
}

export async function executeTask(
  engine: Engine,
  run: DurableRun<Tx>,
  claim: Claim,
): Promise<string> {
  const runRow = await engine.store.db
    .selectFrom('runs')
    .selectAll()
    .where('id', '=', claim.runId)
    .executeTakeFirstOrThrow();
  const signal = AbortSignal.any([run.signal, engine.switchboard.stopSignal(claim.taskId)]);
  if (await isStopRequested(engine, claim)) return settleStop(engine, run, claim);
  if (claim.commitSha !== null) return landAgain(engine, run, claim, runRow, claim.commitSha);
  const placed = await run.step(
    'worktree_created',
    () => prepareWorktree(engine, claim, runRow, signal),
    (tx, outcome) => recordPlace(engine, tx, claim, outcome),
  );
  if (placed.kind === 'no_base') return 'no_base';
  if (placed.kind === 'failed') return failedPlace(engine, run, claim, placed.failure);
  let summary = '';
  for (const part of claim.parts) {
    const own = part === claim.taskId;
    if (await isStopRequested(engine, claim)) return settleStop(engine, run, claim);
    if (!own)
      await run.commit(`begin:${part}`, (tx) => beginSubTask(tx, engine.store.sources, part));
    const done = await run.step(
      own ? 'agent_done' : `agent_done:${part}`,
      async () => leaveIfClosing(run, await runPart(engine, claim, placed.place, part, signal)),
      (tx, outcome) => recordPart(engine, tx, claim, part, outcome),
    );
    const ended = await endIfNotDone(engine, run, claim, done);
    if (ended !== null) return ended;
    if (done.outcome.kind === 'done') summary = done.outcome.summary;
    if (await isStopRequested(engine, claim)) return settleStop(engine, run, claim);
    const committed = await commitPart(engine, run, claim, runRow, placed.place, part, summary);
    if (committed === null) return 'failed';
  }
  engine.durable.wake();
  return 'submitted';
}

/** The attempt had committed its work before it was interrupted: nothing is done twice, it only has to land. */
async function landAgain(
  engine: Engine,
  run: DurableRun<Tx>,
  claim: Claim,
  runRow: RunRow,
  commitSha: string,
): Promise<string> {
  await run.commit('committed', async (tx) => {
    const task = await tx
      .selectFrom('tasks')
      .selectAll()
      .where('id', '=', claim.taskId)
      .executeTakeFirstOrThrow();
    await engine.store.transition(tx, {
      taskId: claim.taskId,
      epoch: claim.epoch,
      from: ['claimed'],
      to: 'in_progress',
      event: 'task.started',
      runId: claim.runId,
      data: { attempt: claim.attempt, agent: claim.agent, committed: commitSha },
      set: { phase: 'gate', commit_sha: commitSha },
    });
    await setAttempt(tx, claim.taskId, claim.attempt, { state: 'submitted' });
    const gate = gateOf(engine, runRow, task);
    await submitLanding(engine, tx, claim, runRow.line, commitSha, gate);
    await releaseSlot(tx, 'task', claim.taskId);
  });
  engine.durable.wake();
  return 'submitted';
}

/** An agent that ended because the process closes has not ended its step: the step is run again at the next start. */
function leaveIfClosing(run: DurableRun<Tx>, outcome: PartOutcome): PartOutcome {
  if (outcome.outcome.kind === 'stopped' && run.signal.aborted) throw run.signal.reason;
  return outcome;
}

async function recordPlace(
  engine: Engine,
  tx: Tx,
  claim: Claim,
  outcome: PlaceOutcome,
): Promise<void> {
  const { store } = engine;
  if (outcome.kind === 'no_base') return waitForBase(engine, tx, claim, outcome);
  await store.transition(tx, {
    taskId: claim.taskId,
    epoch: claim.epoch,
    from: ['claimed'],
    to: 'in_progress',
    event: 'task.started',
    runId: claim.runId,
    data: { attempt: claim.attempt, agent: claim.agent },
  });
  if (outcome.kind === 'failed') return;
  const { place } = outcome;
  await nameRescueRefs(tx, store, place.rescueRefs, claim.taskId);
  await tx
    .updateTable('tasks')
    .set({ phase: 'agent', base_sha: place.base, worktree_path: place.path })
    .where('id', '=', claim.taskId)
    .where('epoch', '=', claim.epoch)
    .execute();
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

/** What a worktree of this repository does not bring by itself is said with the task. */
function repositoryNotes(engine: Engine): { readonly notes?: readonly string[] } {
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
    if (reason.kind !== 'setup_failed') return recordFailure(engine, tx, claim, reason);
    if (await stoppedInstead(engine, tx, claim)) return;
    await setAttempt(tx, claim.taskId, claim.attempt, {
      state: 'interrupted',
      failure_kind: reason.kind,
      error: reason.message,
      error_detail: reason.detail ?? null,
    });
    await engine.store.transition(tx, {
      taskId: claim.taskId,
      epoch: claim.epoch,
      to: 'blocked',
      event: 'task.blocked',
      runId: claim.runId,
      data: { reason: reason.message },
      set: { blocked_reason: `setup: ${reason.message}`, last_error: reason.message },
    });
    await releaseSlot(tx, 'task', claim.taskId);
  });
  return 'failed';
}

async function endIfNotDone(
  engine: Engine,
  run: DurableRun<Tx>,
  claim: Claim,
  done: PartOutcome,
): Promise<string | null> {
  const outcome: AgentOutcome = done.outcome;
  switch (outcome.kind) {
    case 'done':
      if (outcome.blockedReason === undefined) return null;
      await blockFromOutside(engine, run, claim, outcome.blockedReason);
      return 'blocked';
    case 'stopped':
      if (done.held !== undefined) return endAtBudget(engine, run, claim, done.held);
      return settleStop(engine, run, claim);
    case 'limited':
      await waitForAccount(engine, run, claim, outcome.untilMs, outcome.message);
      return 'waiting';
    case 'failed':
      if (await isStopRequested(engine, claim)) return settleStop(engine, run, claim);
      await run.commit('attempt_failed', (tx) => recordFailure(engine, tx, claim, outcome.failure));
      return 'failed';
  }
}

async function commitPart(
  engine: Engine,
  run: DurableRun<Tx>,
  claim: Claim,
  runRow: RunRow,
  place: Place,
  part: string,
  summary: string,
): Promise<CommitLeftoversOutcome | null> {
  const own = part === claim.taskId;
  const task = await engine.store.db
    .selectFrom('tasks')
    .selectAll()
    .where('id', '=', part)
    .executeTakeFirstOrThrow();
  const settings = engine.settings();
  const committed = await run.step(
    own ? 'committed' : `committed:${part}`,
    async () =>
      engine.git.commitLeftovers({
        path: place.path,
        branch: claim.branch,
        base: place.base,
        subject: `${part}: ${task.title}`.split(/[\r\n]/, 1)[0] ?? part,
        trailers: [`Drover-Task: ${part}`, `Drover-Attempt: ${claim.attempt}`],
        maxFileSize: settings.maxCommitFileSize,
        runHooks: settings.runHooks,
        signature: null,
      }),
    async (tx, outcome) => {
      if (!outcome.ok) return;
      if (!own) {
        await tx
          .updateTable('tasks')
          .set({ commit_sha: outcome.value.commit, phase: 'committed' })
          .where('id', '=', part)
          .execute();
        await engine.store.append(tx, {
          type: 'task.phase',
          taskId: part,
          runId: claim.runId,
          data: { attempt: claim.attempt, phase: 'committed' },
        });
        return;
      }
      await submit(engine, tx, claim, runRow, place, outcome.value, { task, summary });
    },
  );
  if (committed.ok) return committed.value;
  const { message } = committed.error;
  await run.commit('commit_failed', (tx) =>
    recordFailure(engine, tx, claim, failure('git_failed', message)),
  );
  return null;
}
