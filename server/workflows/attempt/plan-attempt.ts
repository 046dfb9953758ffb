// Runs a planning attempt: the agent reads without writing, its last message is the plan, and a
// person decides on it. Files that it wrote anyway are kept as a snapshot that no later attempt
// starts from.

import { branchRef } from '../../core/work/ref-names.ts';
import { failure } from '../../core/failure.ts';
import { boundedPlan } from '../../core/prompt/plan-prompt.ts';
import {
  type Claim,
  countFailedPlans,
  existingTask,
  proposePlan,
  releaseSlot,
  setAttempt,
  type Tx,
  noOwner,
} from '../../store/port.ts';
import { recordFailure } from './attempt-ends.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { keepWork, nameKeptRefs } from './kept-work.ts';
import { isStopRequested, settleStop, stoppedInstead } from './stops.ts';
import { type AttemptAtWork, runAgent } from './work-parts.ts';
import type { Place } from './worktree-step.ts';

/** Resolves with how the attempt ended: `planned` if its plan waits for a person. */
export async function makePlan(attempt: AttemptAtWork): Promise<string> {
  const { engine, run, claim, place } = attempt;
  const done = await runAgent(attempt, claim.taskId, 'planned');
  if (done.ended !== null) return done.ended;
  await setWorkAside(engine, claim, place);
  if (await isStopRequested(engine, claim)) return settleStop(engine, run, claim);
  const text = boundedPlan(engine.mask(done.summary));
  await run.commit('plan_proposed', (tx) =>
    text === ''
      ? recordFailure(engine, tx, claim, failure('agent_failed', 'The agent ended without a plan.'))
      : waitForDecision(engine, tx, claim, text),
  );
  return 'planned';
}

/**
 * Keeps uncommitted changes and commits, lists them in the task, and removes them from the slot.
 */
async function setWorkAside(
  engine: Uses<'files' | 'git' | 'report' | 'store'>,
  claim: Claim,
  place: Place,
): Promise<void> {
  const { taskId, attempt } = claim;
  const note = { reason: 'plan', author: 'agent' } as const;
  await keepWork(engine, claim, place, note);
  const head = await engine.git.status(place.path);
  const tips = new Set([
    await engine.git.readRef(branchRef(claim.branch)),
    head.ok ? head.value.head : null,
  ]);
  for (const tip of tips) {
    if (tip === null || tip === place.base || (await engine.git.isAncestor(tip, place.base)))
      continue;
    const kept = await engine.git.keepCommit(tip, `${taskId}/${attempt}`);
    if (!kept.ok) {
      engine.report(kept.error, `keeping the commits of ${taskId}`);
      continue;
    }
    await engine.store.transaction((tx) =>
      nameKeptRefs(tx, engine.store, [kept.value], taskId, note),
    );
  }
}

async function waitForDecision(
  engine: Uses<'clock' | 'store'>,
  tx: Tx,
  claim: Claim,
  text: string,
): Promise<void> {
  if (await stoppedInstead(engine, tx, claim)) return;
  const { taskId, attempt } = claim;
  const plan = await proposePlan(tx, engine.store.sources, { taskId, attempt, text });
  await setAttempt(tx, taskId, attempt, { state: 'succeeded', ended_at_ms: engine.clock.now() });
  await engine.store.transition(tx, {
    taskId,
    epoch: claim.epoch,
    to: 'needs_review',
    event: 'task.needs_review',
    runId: claim.runId,
    data: { kind: 'plan', plan: plan.number, reason: 'its plan waits for an approval' },
    set: {
      review_kind: 'plan',
      attempts: await attemptsWithoutPlanning(tx, claim),
      // Its slot is released, and its branch contains no work of the task.
      commit_sha: null,
      branch: null,
      worktree_path: null,
      last_error: null,
      ...noOwner,
    },
  });
  await releaseSlot(tx, 'task', taskId);
}

/**
 * Failed tries count until a plan exists, so that planning ends. A finished plan restores the
 * attempts.
 */
async function attemptsWithoutPlanning(tx: Tx, claim: Claim): Promise<number> {
  const task = await existingTask(tx, claim.taskId);
  return Math.max(0, task.attempts - (await countFailedPlans(tx, claim.taskId)));
}
