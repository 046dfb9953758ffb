// Tasks of a run whose blockers have landed on, or are part of, other active runs.

import type { Reads, Tx } from '../schema/tables.ts';
import type { Scope } from './scope.ts';

/** Tasks of a run, and its own line. */
export interface WaitScope extends Pick<Scope, 'epicId' | 'tasks'> {
  readonly line: string;
}

/**
 * Ready tasks of the scope with a blocker that landed on one of the lines, and not on the run's
 * own.
 */
function behindLines(db: Reads, { epicId, line, tasks }: WaitScope, lines: readonly string[]) {
  return db
    .selectFrom('tasks as t')
    .innerJoin('task_dependencies as d', 'd.task_id', 't.id')
    .innerJoin('tasks as b', 'b.id', 'd.blocked_by')
    .where('t.status', '=', 'ready')
    .where('t.parent_id', 'is', null)
    .$if(epicId !== null, (query) => query.where('t.epic_id', '=', epicId))
    .$if(tasks !== null, (query) => query.where('t.id', 'in', tasks ?? []))
    .where('b.landed_on', 'in', [...lines])
    .where('b.landed_on', '!=', line);
}

/** Those of them that could start now, each with the commits that its blockers landed as. */
export async function startableBehindLines(
  db: Reads,
  scope: WaitScope,
  lines: readonly string[],
  options: { readonly nowMs: number; readonly limit: number },
): Promise<readonly { readonly id: string; readonly sha: string | null }[]> {
  return behindLines(db, scope, lines)
    .select(['t.id', 'b.landed_sha as sha'])
    .where((eb) =>
      eb.or([
        eb('t.next_attempt_at_ms', 'is', null),
        eb('t.next_attempt_at_ms', '<=', options.nowMs),
      ]),
    )
    .where('b.landed_sha', 'is not', null)
    .limit(options.limit)
    .execute();
}

export async function countBehindLines(
  db: Reads,
  scope: WaitScope,
  lines: readonly string[],
): Promise<number> {
  const rows = await behindLines(db, scope, lines).select('t.id').distinct().execute();
  return rows.length;
}

/** Ready tasks do not start before a time. */
export async function delayStart(tx: Tx, ids: readonly string[], untilMs: number): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ next_attempt_at_ms: untilMs })
    .where('id', 'in', [...ids])
    .where('status', '=', 'ready')
    .execute();
}

/** Whether a blocked task of the run waits for an unfinished task of another run. */
export async function waitsForRuns(
  db: Reads,
  run: Scope,
  others: {
    readonly epics: readonly string[];
    /** One of the other runs is of everything. */
    readonly hasWider: boolean;
  },
): Promise<boolean> {
  const { epicId, exceptEpics, tasks } = run;
  const { epics, hasWider } = others;
  const waiting = await db
    .selectFrom('tasks as t')
    .innerJoin('task_dependencies as d', 'd.task_id', 't.id')
    .innerJoin('tasks as b', 'b.id', 'd.blocked_by')
    .select('t.id')
    .where('t.status', '=', 'blocked')
    .where('t.blocked_reason', 'is', null)
    .$if(epicId !== null, (query) => query.where('t.epic_id', '=', epicId))
    .$if(tasks !== null, (query) => query.where('t.id', 'in', tasks ?? []))
    .$if(exceptEpics.length > 0, (query) =>
      query.where((eb) =>
        eb.or([eb('t.epic_id', 'is', null), eb('t.epic_id', 'not in', [...exceptEpics])]),
      ),
    )
    .where('b.status', 'not in', ['completed', 'failed', 'cancelled'])
    .$if(!hasWider, (query) => query.where('b.epic_id', 'in', [...epics]))
    .$if(hasWider, (query) =>
      query.where((eb) => eb.or([eb('b.epic_id', 'is', null), eb('b.epic_id', '!=', epicId)])),
    )
    .limit(1)
    .executeTakeFirst();
  return waiting !== undefined;
}
