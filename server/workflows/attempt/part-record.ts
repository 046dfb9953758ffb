// Records the result of one part after its agent has ended: usage, cost, log, summary.

import { type Claim, movePhase, recordUsage, setAttempt, type Tx } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import type { PartOutcome } from './part-session.ts';

/** Maximum length of a summary that is kept for the prompts of dependents. */
const summaryMax = 2_000;

export async function recordPart(
  engine: Uses<'mask' | 'store'>,
  tx: Tx,
  claim: Claim,
  part: string,
  done: PartOutcome,
): Promise<void> {
  await setAttempt(tx, claim.taskId, claim.attempt, {
    log_path: done.logPath,
    pid: null,
    pid_start: null,
    pid_part: null,
    ...(done.outcome.kind === 'done'
      ? { summary: engine.mask(done.outcome.summary).slice(0, summaryMax) }
      : {}),
  });
  if (part === claim.taskId && done.outcome.kind === 'done' && claim.planning !== true) {
    await movePhase(tx, claim, 'commit');
  }
  if (done.usage !== null) await recordUsage(tx, claim, part, done.usage);
  await engine.store.append(tx, {
    type: 'agent.ended',
    taskId: part,
    runId: claim.runId,
    data: {
      attempt: claim.attempt,
      outcome: done.outcome.kind,
      cost_usd: done.usage?.costUsd ?? null,
    },
  });
}
