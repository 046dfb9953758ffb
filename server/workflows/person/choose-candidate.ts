// A person chooses the candidate whose work lands as its task.

import { candidateStanding } from '../../core/plan/best-of.ts';
import { Refusal } from '../../core/failure.ts';
import {
  beginApprovedLanding,
  candidateFacts,
  existingTask,
  lastAttempt,
  runById,
  type RunRow,
  taskById,
  type Tx,
  waitsForCandidatesOnly,
} from '../../store/port.ts';
import { choose } from '../attempt/candidates.ts';
import { chooseGateCommand, submitLanding } from '../attempt/submission.ts';
import type { Uses } from '../kit/engine-ports.ts';

/**
 * Called when a person has chosen, by an answer (`first` records it) or by approving a candidate.
 * The work lands at once, even without an active run, like all work that a person approves.
 */
export async function chooseByPerson(
  engine: Uses<'durable' | 'git' | 'machineId' | 'mask' | 'settings' | 'store' | 'switchboard'>,
  candidateId: string,
  first: (tx: Tx) => Promise<unknown> = async () => {},
): Promise<void> {
  await publishChosen(engine, candidateId);
  const stopped = await engine.store.transaction(async (tx) => {
    await first(tx);
    return chooseByPersonIn(engine, tx, candidateId);
  });
  for (const id of stopped) engine.switchboard.stop(id, null);
  engine.durable.wake();
}

/** Publishes the work, because any machine may land it. */
async function publishChosen(engine: Uses<'git' | 'store'>, id: string): Promise<void> {
  if (engine.git.sharedRemote === null) return;
  const attempt = await lastAttempt(engine.store.db, id);
  const commit = attempt?.commit_sha ?? null;
  if (attempt === null || commit === null) return;
  const published = await engine.git.publish(attempt.branch, commit);
  if (!published.ok) throw new Refusal('git', published.error.message);
}

async function chooseByPersonIn(
  engine: Uses<'durable' | 'machineId' | 'settings' | 'store'>,
  tx: Tx,
  candidateId: string,
): Promise<readonly string[]> {
  const row = await taskById(tx, candidateId);
  const of = row?.candidate_of ?? null;
  const task = of === null ? null : await taskById(tx, of);
  if (row === null || task === null || task.status !== 'blocked') {
    throw new Refusal(
      'bad_state',
      `${candidateId} can no longer be chosen. The choice was already made.`,
    );
  }
  if (candidateStanding(candidateFacts(row)) !== 'green') {
    throw new Refusal(
      'bad_state',
      `${candidateId} has not passed the gate and can't be chosen. Run "drover send-back ${candidateId} <text>" or "drover retry ${candidateId}" to give it another try.`,
    );
  }
  const made = await lastAttempt(tx, candidateId);
  const run = await runById(tx, made?.run_id ?? '');
  const isFree = run !== null && (await waitsForCandidatesOnly(tx, task.id));
  const to = isFree ? 'needs_review' : 'ready';
  const stopped = await choose(engine, tx, task, candidateId, { by: 'person', to });
  if (isFree) await landChosen(engine, tx, task.id, run);
  return stopped;
}

async function landChosen(
  engine: Uses<'durable' | 'machineId' | 'settings' | 'store'>,
  tx: Tx,
  taskId: string,
  run: RunRow,
): Promise<void> {
  const task = await existingTask(tx, taskId);
  const attempt = await lastAttempt(tx, taskId);
  if (attempt === null || attempt.commit_sha === null) return;
  const claim = { taskId, epoch: task.epoch, attempt: attempt.number, runId: run.id };
  const commitSha = attempt.commit_sha;
  const gateCommand = chooseGateCommand(engine, run, task);
  await submitLanding(engine, tx, claim, { line: run.line, commitSha, gateCommand });
  await beginApprovedLanding(tx, taskId);
}
