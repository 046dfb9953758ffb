// Plans of tasks: proposed by an agent that wrote no files, approved or sent back by a person.

import { cutEnd } from '../../core/prompt/prompt-text.ts';
import type { PlanView } from '../../protocol/api.ts';
import type { StoreSources } from '../feed/feed.ts';
import { inParts } from '../rows/one-moment.ts';
import type { PlanRow, Reads, Tx } from '../schema/tables.ts';

/** The task's latest plan in any state. */
export async function lastPlan(db: Reads, taskId: string): Promise<PlanRow | null> {
  return (await newestFirst(db, taskId).executeTakeFirst()) ?? null;
}

/** The plan that its attempts implement. Null if there is none, or it was withdrawn. */
export async function approvedPlan(db: Reads, taskId: string): Promise<PlanRow | null> {
  const row = await newestFirst(db, taskId).where('state', '=', 'approved').executeTakeFirst();
  return row ?? null;
}

function newestFirst(db: Reads, taskId: string) {
  const plans = db.selectFrom('task_plans').selectAll().where('task_id', '=', taskId);
  return plans.orderBy('number', 'desc').limit(1);
}

/** Adds the plan of another round. A plan that is still undecided is dropped. */
export async function proposePlan(
  tx: Tx,
  sources: StoreSources,
  plan: { readonly taskId: string; readonly attempt: number; readonly text: string },
): Promise<PlanRow> {
  await dropPlans(tx, sources, plan.taskId, ['proposed']);
  const number = ((await lastPlan(tx, plan.taskId))?.number ?? 0) + 1;
  const row: PlanRow = {
    task_id: plan.taskId,
    number,
    attempt: plan.attempt,
    state: 'proposed',
    text: plan.text,
    comment: null,
    created_at_ms: sources.clock.now(),
    decided_at_ms: null,
  };
  await tx.insertInto('task_plans').values(row).execute();
  return row;
}

export type PlanDecision =
  /** `text`: the plan as the person edited it. */
  | { readonly state: 'approved'; readonly text?: string }
  | { readonly state: 'sent_back'; readonly comment: string };

/** Records a person's decision on the waiting plan. Returns null if no plan waits. */
export async function decidePlan(
  tx: Tx,
  sources: StoreSources,
  taskId: string,
  decision: PlanDecision,
): Promise<PlanRow | null> {
  const row = await tx
    .updateTable('task_plans')
    .set({ ...decision, decided_at_ms: sources.clock.now() })
    .where('task_id', '=', taskId)
    .where('state', '=', 'proposed')
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Drops plans that no longer apply. If the task needs a plan, the next attempt writes a new one.
 */
export async function dropPlans(
  tx: Tx,
  sources: StoreSources,
  taskId: string,
  states: readonly ('proposed' | 'approved')[],
): Promise<number> {
  const dropped = await tx
    .updateTable('task_plans')
    .set({ state: 'dropped', decided_at_ms: sources.clock.now() })
    .where('task_id', '=', taskId)
    .where('state', 'in', [...states])
    .returning('task_id')
    .execute();
  return dropped.length;
}

/** Maximum characters of a plan that a board shows. */
const boardCharacters = 3_900;

/** Waiting plans by task. */
export async function readProposals(
  db: Reads,
  taskIds: readonly string[],
): Promise<ReadonlyMap<string, PlanView>> {
  const found = new Map<string, PlanView>();
  for (const part of inParts(taskIds)) {
    const rows = await db
      .selectFrom('task_plans')
      .selectAll()
      .where('task_id', 'in', [...part])
      .where('state', '=', 'proposed')
      .execute();
    for (const row of rows) {
      const text = cutEnd(row.text, boardCharacters);
      found.set(row.task_id, planView({ ...row, text }));
    }
  }
  return found;
}

const states = ['proposed', 'approved', 'sent_back'] as const;

export function planView(row: PlanRow): PlanView {
  return {
    number: row.number,
    attempt: row.attempt,
    state: states.find((state) => state === row.state) ?? 'dropped',
    text: row.text,
    comment: row.comment,
    created_at: Math.floor(row.created_at_ms / 1000),
  };
}
