// Agents that cannot be used now: their account's quota is used up, or a first try showed that they
// cannot start, are not signed in or have no credit.

import { unusableKinds } from '../../core/work/fallback.ts';
import type { Reads, Tx } from '../schema/tables.ts';

/** Accounts at their limit, with the time when it ends. */
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

/** Records that the account is at its limit until a time, with this message. */
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

/** Stands for attempts on workers, in place of a machine's id. */
export const onWorkers = 'remote';

export interface UnusableThere {
  readonly agent: string;
  /** A machine's id; empty without a fleet. */
  readonly place: string;
  /** The machine's display name. Null if only one machine exists. */
  readonly name: string | null;
  readonly why: string;
  /** Unix ms. */
  readonly sinceMs: number;
}

/** Agents that cannot be used on each machine, since the run was last started or resumed. */
export async function unusableAgents(db: Reads, runId: string): Promise<readonly UnusableThere[]> {
  const rows = await db
    .selectFrom('attempts as a')
    .leftJoin('machines as m', 'm.id', 'a.machine')
    .select(['a.agent', 'a.error', 'a.ended_at_ms', 'a.machine', 'a.runs_on', 'm.name'])
    .where('a.run_id', '=', runId)
    .where('a.failure_kind', 'in', unusableKinds)
    .orderBy('a.ended_at_ms')
    .execute();
  if (rows.length === 0) return [];
  const since = await lastStartMs(db, runId);
  const found = new Map<string, UnusableThere>();
  for (const { agent, error, ended_at_ms: endedMs, machine, runs_on: runsOn, name } of rows) {
    const sinceMs = endedMs ?? 0;
    if (sinceMs < since) continue;
    const isRemote = runsOn === 'remote';
    const place = isRemote ? onWorkers : machine;
    const key = `${place} ${agent}`;
    const called = isRemote ? 'a worker' : machine === '' ? null : (name ?? machine);
    if (found.has(key)) continue;
    found.set(key, { agent, place, name: called, why: error ?? '', sinceMs });
  }
  return [...found.values()];
}

/** Display names of the agents that ready tasks may wait for. */
export async function awaitedAgents(
  db: Reads,
  runId: string,
): Promise<readonly { readonly agent: string; readonly why: string; readonly sinceMs: number }[]> {
  const unusable = await unusableAgents(db, runId);
  if (unusable.length === 0) return [];
  const rows = await db
    .selectFrom('attempts as a')
    .innerJoin('tasks as t', 't.id', 'a.task_id')
    .select('a.agent')
    .distinct()
    .where('a.run_id', '=', runId)
    .where('a.failure_kind', 'in', unusableKinds)
    .where('t.status', '=', 'ready')
    .execute();
  const awaited = new Set(rows.map(({ agent }) => agent));
  return unusable.flatMap(({ agent, name, why, sinceMs }) => {
    if (name !== null) return [{ agent, why: notUsedThere(name, agent, why), sinceMs }];
    if (!awaited.has(agent)) return [];
    return [{ agent, why: `Tasks of ${agent} wait for a new run: ${why}`, sinceMs }];
  });
}

/** Other machines may have the agent and continue. */
export function notUsedThere(name: string, agent: string, why: string): string {
  return `${name} does not use ${agent} in this run: ${why}`;
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
