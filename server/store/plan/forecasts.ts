// Stores forecasts of overlaps between unlanded work, and selects the attempts to compare.

import type { ExpressionBuilder } from 'kysely';
import type { ForeseenPair } from '../../core/forecast/figures.ts';
import type { ForecastLevel, KnownOverlap, Overlap } from '../../core/forecast/decide.ts';
import type { ForecastView } from '../../protocol/task-fields.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import { type Db, textList } from '../rows/one-moment.ts';
import type { Reads, StoreTables, Tx } from '../schema/tables.ts';

/** A running attempt of a machine, with the facts for a comparison. */
export interface ComparedAttempt {
  readonly id: string;
  readonly title: string;
  readonly number: number;
  /** The commit that it starts from. */
  readonly base: string;
  /** Its committed work; null while its agent runs. */
  readonly commit: string | null;
  readonly startedMs: number;
  readonly candidateOf: string | null;
  /** The branch whose landing line it lands on, and the branch that it finally reaches. */
  readonly line: string;
  readonly target: string;
  readonly phase: string | null;
  readonly agent: string;
}

/** At most `limit` attempts of this machine that implement a task. */
export async function comparedAttempts(
  db: Reads,
  machine: string,
  limit: number,
): Promise<readonly ComparedAttempt[]> {
  const rows = await db
    .selectFrom('tasks as t')
    .innerJoin('attempts as a', (join) =>
      join.onRef('a.task_id', '=', 't.id').onRef('a.epoch', '=', 't.epoch'),
    )
    .innerJoin('runs as r', 'r.id', 'a.run_id')
    .select(['t.id', 't.title', 't.commit_sha', 't.candidate_of', 't.phase'])
    .select(['a.number', 'a.base_sha', 'a.started_at_ms', 'a.agent', 'r.line', 'r.target_branch'])
    .where('t.status', '=', 'in_progress')
    .where('t.parent_id', 'is', null)
    .where('a.machine', '=', machine)
    .where('a.planning', '=', 0)
    .where('a.base_sha', 'is not', null)
    .orderBy('a.started_at_ms')
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    id: row.id,
    title: row.title,
    number: row.number,
    base: row.base_sha ?? '',
    // After a conflict, the task still has the commit of its previous attempt.
    commit: row.phase === 'gate' || row.phase === 'land' ? row.commit_sha : null,
    startedMs: row.started_at_ms,
    candidateOf: row.candidate_of,
    line: row.line,
    target: row.target_branch,
    phase: row.phase,
    agent: row.agent,
  }));
}

/** The two sides of a forecast: the later task, and the earlier task or the line (''). */
export interface ForecastKey {
  readonly taskId: string;
  readonly otherId: string;
}

export interface StoredForecast extends ForecastKey, KnownOverlap {}

/**
 * Forecasts of these tasks, and open forecasts of any other task whose last attempt ran on the
 * machine.
 */
export async function readForecasts(
  db: Reads,
  machine: string,
  ids: readonly string[],
): Promise<readonly StoredForecast[]> {
  const rows = await db
    .selectFrom('forecasts')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb.and([eb('ended_ms', 'is', null), eb('task_id', 'in', lastOn(eb, machine))]),
        ...(ids.length === 0 ? [] : [eb('task_id', 'in', [...ids])]),
      ]),
    )
    .execute();
  return rows.map((row) => ({
    taskId: row.task_id,
    otherId: row.other_id,
    level: row.level,
    files: textList(row.files),
    isOpen: row.ended_ms === null,
    told: textList(row.told),
  }));
}

/** Stores a forecast, with the files that hints named. */
export async function recordForecast(
  tx: Tx,
  sources: StoreSources,
  { taskId, otherId }: ForecastKey,
  { level, files }: Overlap,
  told: readonly string[],
): Promise<void> {
  const nowMs = sources.clock.now();
  const conflictMs = level === 'conflict' ? nowMs : null;
  const values = { level, files: JSON.stringify(files), told: JSON.stringify(told) };
  await tx
    .insertInto('forecasts')
    .values({
      task_id: taskId,
      other_id: otherId,
      ...values,
      first_seen_ms: nowMs,
      conflict_ms: conflictMs,
    })
    .onConflict((both) =>
      both.columns(['task_id', 'other_id']).doUpdateSet((eb) => ({
        ...values,
        ended_ms: null,
        conflict_ms: eb.fn.coalesce('forecasts.conflict_ms', eb.val(conflictMs)),
      })),
    )
    .execute();
  await appendBoth(tx, sources, { taskId, otherId }, { level, files });
}

/** Ends a forecast because the tasks' work no longer overlaps, or one of the tasks has ended. */
export async function endForecast(tx: Tx, sources: StoreSources, key: ForecastKey): Promise<void> {
  const ended = await tx
    .updateTable('forecasts')
    .set({ ended_ms: sources.clock.now() })
    .where('task_id', '=', key.taskId)
    .where('other_id', '=', key.otherId)
    .where('ended_ms', 'is', null)
    .returning('task_id')
    .executeTakeFirst();
  if (ended !== undefined) await appendBoth(tx, sources, key, { level: null, files: [] });
}

/** Appends an event for each of the two tasks, so that clients read both again. */
async function appendBoth(
  tx: Tx,
  sources: StoreSources,
  { taskId, otherId }: ForecastKey,
  data: { readonly level: ForecastLevel | null; readonly files: readonly string[] },
): Promise<void> {
  const sides = [{ taskId, other: otherId === '' ? null : otherId }];
  if (otherId !== '') sides.push({ taskId: otherId, other: taskId });
  for (const side of sides) {
    await appendEvent(tx, sources, {
      type: 'forecast.changed',
      taskId: side.taskId,
      data: { other: side.other, ...data },
    });
  }
}

/** Open forecasts by task, for one task or all. Forecasts that have ended are omitted. */
export async function forecastViews(
  db: Db,
  id?: string,
): Promise<ReadonlyMap<string, readonly ForecastView[]>> {
  const rows = await db
    .selectFrom('forecasts')
    .selectAll()
    .where('ended_ms', 'is', null)
    .where('task_id', 'in', (eb) => running(eb))
    .where((eb) => eb.or([eb('other_id', '=', ''), eb('other_id', 'in', running(eb))]))
    .$if(id !== undefined, (query) =>
      query.where((eb) => eb.or([eb('task_id', '=', id ?? ''), eb('other_id', '=', id ?? '')])),
    )
    .orderBy('first_seen_ms')
    .execute();
  const found = new Map<string, ForecastView[]>();
  const add = (of: string, other: string | null, row: (typeof rows)[number]): void => {
    const views = found.get(of) ?? [];
    found.set(of, views);
    views.push({
      other,
      level: row.level,
      files: textList(row.files),
      since: Math.floor((row.conflict_ms ?? row.first_seen_ms) / 1000),
    });
  };
  for (const row of rows) {
    add(row.task_id, row.other_id === '' ? null : row.other_id, row);
    if (row.other_id !== '') add(row.other_id, row.task_id, row);
  }
  return found;
}

/** Forecast conflicts of these tasks, each once, whatever their outcome. */
export async function foreseenPairs(
  db: Db,
  ids: readonly string[],
): Promise<readonly ForeseenPair[]> {
  const rows = await db
    .selectFrom('forecasts')
    .select(['task_id', 'other_id'])
    .where('conflict_ms', 'is not', null)
    .execute();
  const asked = new Set(ids);
  return rows
    .filter(({ task_id: id, other_id: other }) => asked.has(id) || asked.has(other))
    .map((row) => ({ taskId: row.task_id, otherId: row.other_id }));
}

/** Matches tasks whose last attempt ran on this machine. Other machines end their own forecasts. */
function lastOn(eb: ExpressionBuilder<StoreTables, 'forecasts'>, machine: string) {
  return eb
    .selectFrom('tasks as t')
    .innerJoin('attempts as a', (join) =>
      join.onRef('a.task_id', '=', 't.id').onRef('a.epoch', '=', 't.epoch'),
    )
    .select('t.id')
    .where('a.machine', '=', machine);
}

/** Matches tasks with a running attempt. */
function running(eb: ExpressionBuilder<StoreTables, 'forecasts'>) {
  return eb.selectFrom('tasks').select('id').where('status', '=', 'in_progress');
}
