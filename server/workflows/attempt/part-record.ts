// What one part of an attempt leaves in the rows when its agent has ended: usage, cost, log, summary.

import type { Usage } from '../../agents/port.ts';
import { type Claim, setAttempt, type Tx } from '../../store/port.ts';
import type { PartOutcome } from './agent-step.ts';
import type { Engine } from '../kit/parts.ts';

/** Longest summary that is kept for the prompts of dependents. */
const summaryMax = 2_000;

export async function recordPart(
  engine: Engine,
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
    await tx
      .updateTable('tasks')
      .set({ phase: 'commit' })
      .where('id', '=', claim.taskId)
      .where('epoch', '=', claim.epoch)
      .where('status', '=', 'in_progress')
      .execute();
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

/** Usage is the running total of the part's own log, so it replaces what the part said before; the sums are made anew. */
async function recordUsage(tx: Tx, claim: Claim, part: string, usage: Usage): Promise<void> {
  const row = await tx
    .selectFrom('attempts')
    .select('usage_by_part')
    .where('task_id', '=', claim.taskId)
    .where('number', '=', claim.attempt)
    .executeTakeFirstOrThrow();
  const byPart = { ...(JSON.parse(row.usage_by_part) as Record<string, Usage>), [part]: usage };
  const all = Object.values(byPart);
  await setAttempt(tx, claim.taskId, claim.attempt, {
    usage_by_part: JSON.stringify(byPart),
    input_tokens: all.reduce((sum, one) => sum + one.inputTokens, 0),
    output_tokens: all.reduce((sum, one) => sum + one.outputTokens, 0),
    cost_usd: all.reduce((sum, one) => sum + (one.costUsd ?? 0), 0),
  });
  const total = await tx
    .selectFrom('attempts')
    .select((eb) => eb.fn.sum<number>('cost_usd').as('usd'))
    .where('task_id', '=', claim.taskId)
    .executeTakeFirstOrThrow();
  await tx
    .updateTable('tasks')
    .set({ cost_usd: total.usd ?? 0 })
    .where('id', '=', claim.taskId)
    .execute();
}
