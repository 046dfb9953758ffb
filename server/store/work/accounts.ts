// Agents that cannot be used now: their account has used up its quota, or a first try showed that
// they cannot start, are not signed in, or have no credit.

import { unusableKinds } from '../../core/work/fallback.ts';
import type { Reads, Tx } from '../schema/tables.ts';

/** Accounts at their limit, with the time until which they are. */
export async function limitedAccounts(
  db: Reads,
  nowMs: number,
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('accounts')
    .select(['name', 'limited_until_ms'])
    .where('limited_until_ms', '>', nowMs)
    .execute();
  return new Map(rows.map((row) => [row.name, row.limited_until_ms ?? nowMs]));
}

/** The account is at its limit until a time, with this message. */
export async function limitAccount(
  tx: Tx,
  name: string,
  limit: { readonly untilMs: number; readonly message: string },
): Promise<void> {
  const set = { limited_until_ms: limit.untilMs, message: limit.message };
  await tx
    .insertInto('accounts')
    .values({ name, ...set })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(set))
    .execute();
}

/**
 * By agent, why it cannot be used, since the run was last started or resumed. Only attempts on this
 * machine count: another machine of a fleet, or a worker, may have the agent.
 */
export async function unusableAgents(
  db: Reads,
  runId: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('attempts')
    .select(['agent', 'error', 'ended_at_ms'])
    .where('run_id', '=', runId)
    .where('failure_kind', 'in', unusableKinds)
    .where('machine', '=', '')
    .where('runs_on', '=', 'local')
    .execute();
  if (rows.length === 0) return new Map();
  const since = await lastStartMs(db, runId);
  return new Map(
    rows
      .filter((row) => (row.ended_at_ms ?? 0) >= since)
      .map((row) => [row.agent, row.error ?? '']),
  );
}

/** Agents that ready tasks of the run wait for, with the reason and since when (Unix ms). */
export async function awaitedAgents(
  db: Reads,
  runId: string,
): Promise<readonly { readonly agent: string; readonly why: string; readonly sinceMs: number }[]> {
  const unusable = await unusableAgents(db, runId);
  if (unusable.size === 0) return [];
  const rows = await db
    .selectFrom('attempts as a')
    .innerJoin('tasks as t', 't.id', 'a.task_id')
    .select((eb) => ['a.agent', eb.fn.min('a.ended_at_ms').as('since')])
    .where('a.run_id', '=', runId)
    .where('a.failure_kind', 'in', unusableKinds)
    .where('t.status', '=', 'ready')
    .groupBy('a.agent')
    .execute();
  return rows.flatMap(({ agent, since }) => {
    const why = unusable.get(agent);
    return why === undefined ? [] : [{ agent, why, sinceMs: Number(since ?? 0) }];
  });
}

async function lastStartMs(db: Reads, runId: string): Promise<number> {
  const row = await db
    .selectFrom('events')
    .select('at_ms')
    .where('run_id', '=', runId)
    .where('type', 'in', ['run.started', 'run.resumed'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.at_ms ?? 0;
}
