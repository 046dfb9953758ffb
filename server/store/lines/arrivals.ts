// The rule for blockers that landed on another line: such a blocker is unmet until its commit is on
// the run's line. Which commits are there is determined by git and recorded here.

import type { Reads, Tx } from '../schema/tables.ts';
import type { EpicWait } from '../../core/line/epic-cycle.ts';
import type { RunLine, Scope } from '../rows/scope.ts';

/** Blockers of unfinished tasks and of their sub-tasks that landed on another line. */
function unmetElsewhere(db: Reads, { line, target }: RunLine) {
  const others = db.selectFrom('lines').select('branch').where('branch', 'not in', [line, target]);
  const arrived = db.selectFrom('arrivals').select('sha').where('line', '=', line);
  return db
    .selectFrom('tasks as blocker')
    .innerJoin('task_dependencies as d', 'd.blocked_by', 'blocker.id')
    .innerJoin('tasks as part', 'part.id', 'd.task_id')
    .leftJoin('tasks as parent', 'parent.id', 'part.parent_id')
    .where('blocker.landed_on', 'in', others)
    .where('blocker.landed_sha', 'is not', null)
    .where('blocker.landed_sha', 'not in', arrived)
    .where('part.status', 'not in', ['completed', 'cancelled']);
}

/** Top-level tasks that such a blocker keeps from starting on the line. */
export function tasksBehind(db: Reads, place: RunLine) {
  return unmetElsewhere(db, place).select((eb) =>
    eb.fn.coalesce('parent.parent_id', 'part.parent_id', 'part.id').as('id'),
  );
}

export interface AwaitedCommit {
  readonly id: string;
  readonly blocker: string;
  readonly sha: string;
  readonly landedOn: string;
}

/** Commits that ready tasks of a run wait for. */
export async function awaitedCommits(
  db: Reads,
  { epicId, exceptEpics, tasks, on }: Scope,
): Promise<readonly AwaitedCommit[]> {
  if (on === undefined) return [];
  const rows = await unmetElsewhere(db, on)
    .innerJoin('tasks as t', (join) =>
      join.on((eb) =>
        eb('t.id', '=', eb.fn.coalesce('parent.parent_id', 'part.parent_id', 'part.id')),
      ),
    )
    .select(['t.id', 't.position', 'blocker.id as blocker'])
    .select(['blocker.landed_sha', 'blocker.landed_on'])
    .where('t.status', '=', 'ready')
    .$if(epicId !== null, (query) => query.where('t.epic_id', '=', epicId))
    .$if(tasks !== null, (query) => query.where('t.id', 'in', tasks ?? []))
    .$if(exceptEpics.length > 0, (query) =>
      query.where((eb) =>
        eb.or([eb('t.epic_id', 'is', null), eb('t.epic_id', 'not in', [...exceptEpics])]),
      ),
    )
    .orderBy('t.position')
    .distinct()
    .execute();
  return rows.map(({ id, blocker, landed_sha: sha, landed_on: landedOn }) => ({
    id,
    blocker,
    sha: sha ?? '',
    landedOn: landedOn ?? '',
  }));
}

/** Records that the line contains these commits of blockers that landed on other lines. */
export async function noteArrivals(tx: Tx, line: string, shas: readonly string[]): Promise<void> {
  if (shas.length === 0) return;
  await tx
    .insertInto('arrivals')
    .values(shas.map((sha) => ({ line, sha })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Users removed the commit from the line. */
export async function forgetArrival(tx: Tx, line: string, sha: string): Promise<void> {
  await tx.deleteFrom('arrivals').where('line', '=', line).where('sha', '=', sha).execute();
}

/** Whether a blocked task of the run waits for an unfinished task of another run. */
export async function waitsForRuns(
  db: Reads,
  run: Scope,
  others: {
    readonly epics: readonly string[];
    /** One of the other runs covers all tasks. */
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

/** Unfinished tasks of an epic that wait for a task of another epic that has not landed. */
export async function epicWaits(db: Reads): Promise<readonly EpicWait[]> {
  const rows = await db
    .selectFrom('task_dependencies as d')
    .innerJoin('tasks as t', 't.id', 'd.task_id')
    .innerJoin('tasks as b', 'b.id', 'd.blocked_by')
    .innerJoin('epics as e', 'e.id', 'b.epic_id')
    .select(['t.epic_id', 't.id as task', 'b.id as blocker', 'b.epic_id as on'])
    .where('t.epic_id', 'is not', null)
    .whereRef('t.epic_id', '!=', 'b.epic_id')
    .where('t.status', 'not in', ['completed', 'cancelled'])
    .where((eb) =>
      eb.or([
        eb('b.status', '!=', 'completed'),
        eb.and([
          eb('b.landed_on', '=', eb.ref('e.branch')),
          eb.or([eb('e.landing_state', 'is', null), eb('e.landing_state', '!=', 'landed')]),
        ]),
      ]),
    )
    .orderBy('t.position')
    .execute();
  return rows.map(({ epic_id: epic, task, blocker, on }) => ({
    epic: epic ?? '',
    task,
    blocker,
    on: on ?? '',
  }));
}
