// Stored usage by part, task, epic and day, and the number of agents that an overloaded account may
// run.

import { sql } from 'kysely';
import type { BudgetScope, Spent } from '../../core/work/budget.ts';
import type { Pace } from '../../core/work/concurrency.ts';
import type { Reads, Tx } from '../schema/tables.ts';

export interface SpendingKey {
  readonly taskId: string;
  readonly attempt: number;
  readonly part: string;
  readonly day: string;
}

export async function addSpending(tx: Tx, key: SpendingKey, spent: Spent): Promise<void> {
  await tx
    .insertInto('spending')
    .values({
      task_id: key.taskId,
      attempt: key.attempt,
      part: key.part,
      day: key.day,
      tokens: spent.tokens,
      usd: spent.usd,
      turns: spent.turns,
      worked_ms: Math.round(spent.workedMs),
    })
    .onConflict((conflict) =>
      conflict.columns(['task_id', 'attempt', 'part', 'day']).doUpdateSet((eb) => ({
        tokens: eb('spending.tokens', '+', spent.tokens),
        usd: eb('spending.usd', '+', spent.usd),
        turns: eb('spending.turns', '+', spent.turns),
        worked_ms: eb('spending.worked_ms', '+', Math.round(spent.workedMs)),
      })),
    )
    .execute();
}

const sums = {
  tokens: sql<number>`coalesce(sum(tokens), 0)`,
  usd: sql<number>`coalesce(sum(usd), 0)`,
  turns: sql<number>`coalesce(sum(turns), 0)`,
  workedMs: sql<number>`coalesce(sum(worked_ms), 0)`,
};

function total(tx: Reads) {
  return tx
    .selectFrom('spending')
    .select([
      sums.tokens.as('tokens'),
      sums.usd.as('usd'),
      sums.turns.as('turns'),
      sums.workedMs.as('workedMs'),
    ]);
}

export async function spentByPart(tx: Reads, key: Omit<SpendingKey, 'day'>): Promise<Spent> {
  return total(tx)
    .where('task_id', '=', key.taskId)
    .where('attempt', '=', key.attempt)
    .where('part', '=', key.part)
    .executeTakeFirstOrThrow();
}

/** `name`: id of the task or epic, or the day. */
export async function spentByScope(tx: Reads, scope: BudgetScope, name: string): Promise<Spent> {
  switch (scope) {
    case 'task':
      return total(tx).where('task_id', '=', name).executeTakeFirstOrThrow();
    case 'day':
      return total(tx).where('day', '=', name).executeTakeFirstOrThrow();
    case 'epic':
      return total(tx)
        .where('task_id', 'in', (eb) =>
          eb.selectFrom('tasks').select('id').where('epic_id', '=', name),
        )
        .executeTakeFirstOrThrow();
  }
}

export interface EarlierAnswer {
  readonly attempt: number;
  readonly state: string;
  readonly answer: string | null;
}

/** Earlier answers under this request id, for any task. Omits withdrawn questions. */
export async function readEarlierAnswers(
  tx: Reads,
  requestId: string,
): Promise<readonly EarlierAnswer[]> {
  return tx
    .selectFrom('questions')
    .select(['attempt', 'state', 'answer'])
    .where('request_id', '=', requestId)
    .where('state', '!=', 'withdrawn')
    .execute();
}

export async function readPace(tx: Reads, account: string): Promise<Pace | null> {
  const row = await tx
    .selectFrom('accounts')
    .select(['pace_agents', 'pace_at_ms'])
    .where('name', '=', account)
    .executeTakeFirst();
  const { pace_agents: agents = null, pace_at_ms: atMs = null } = row ?? {};
  return agents === null || atMs === null ? null : { agents, atMs };
}

/** Accounts whose provider has reported overload. */
export async function pacedAccounts(db: Reads): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('accounts')
    .select('name')
    .where('pace_at_ms', 'is not', null)
    .execute();
  return rows.map((row) => row.name);
}

export async function setPace(tx: Tx, account: string, pace: Pace): Promise<void> {
  const set = { pace_agents: pace.agents, pace_at_ms: pace.atMs };
  await tx
    .insertInto('accounts')
    .values({ name: account, ...set })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(set))
    .execute();
}

/** Agents that run or are about to start, by kind. A task whose work is committed needs none. */
export async function busyAgents(tx: Reads): Promise<ReadonlyMap<string, number>> {
  const rows = await tx
    .selectFrom('tasks as t')
    .innerJoin('attempts as a', (join) =>
      join.onRef('a.task_id', '=', 't.id').onRef('a.epoch', '=', 't.epoch'),
    )
    .select((eb) => ['a.agent', eb.fn.countAll<number>().as('n')])
    .where('t.status', 'in', ['claimed', 'in_progress'])
    .where('t.parent_id', 'is', null)
    .where((eb) => eb.or([eb('t.phase', 'is', null), eb('t.phase', 'not in', ['gate', 'land'])]))
    .groupBy('a.agent')
    .execute();
  return new Map(rows.map((row) => [row.agent, row.n]));
}
