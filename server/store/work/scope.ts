// Counts the tasks in the scope of a run by status, and those that can still proceed.

import { tasksBehind } from '../lines/arrivals.ts';
import type { Scope } from '../rows/scope.ts';
import { isUnblocked } from './startable.ts';
import type { Reads } from '../schema/tables.ts';
import type { TaskStatus } from '../../core/plan/state.ts';

/** Tasks of the scope by status, including sub-tasks. */
export async function countsInScope(
  db: Reads,
  { epicId, exceptEpics, tasks }: Scope,
): Promise<ReadonlyMap<TaskStatus, number>> {
  const rows = await db
    .selectFrom('tasks')
    .select((eb) => ['status', eb.fn.countAll<number>().as('n')])
    .$if(epicId !== null, (query) => query.where('epic_id', '=', epicId))
    .$if(tasks !== null, (query) => query.where('id', 'in', tasks ?? []))
    .$if(exceptEpics.length > 0, (query) =>
      query.where((eb) =>
        eb.or([eb('epic_id', 'is', null), eb('epic_id', 'not in', [...exceptEpics])]),
      ),
    )
    .groupBy('status')
    .execute();
  return new Map(rows.map(({ status, n }) => [status, n]));
}

/**
 * Top-level tasks of the scope that are running, landing, or able to start at some time. If
 * `canStart` is false, no task starts. Tasks of `heldEpics` do not start before a person acts.
 */
export async function movingInScope(
  db: Reads,
  { epicId, exceptEpics, tasks, on }: Scope,
  options: {
    readonly canStart: boolean;
    readonly heldEpics: readonly string[];
    /** Tasks that do not count. */
    readonly except?: readonly string[];
  },
): Promise<number> {
  const { canStart, heldEpics, except = [] } = options;
  const moving = await db
    .selectFrom('tasks')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('parent_id', 'is', null)
    .$if(except.length > 0, (query) => query.where('id', 'not in', [...except]))
    .where((eb) =>
      eb.or([
        eb('status', 'in', ['claimed', 'in_progress']),
        ...(canStart
          ? [
              eb.and([
                eb.or([
                  eb('status', '=', 'ready'),
                  eb.and([eb('status', '=', 'waiting'), isUnblocked(eb)]),
                ]),
                eb.or([eb('epic_id', 'is', null), eb('epic_id', 'not in', [...heldEpics])]),
                ...(on === undefined ? [] : [eb('id', 'not in', tasksBehind(db, on))]),
              ]),
            ]
          : []),
        // An approved task lands and then unblocks its dependents.
        eb.and([eb('status', '=', 'needs_review'), eb('phase', '=', 'land')]),
      ]),
    )
    .$if(epicId !== null, (query) => query.where('epic_id', '=', epicId))
    .$if(tasks !== null, (query) => query.where('id', 'in', tasks ?? []))
    .$if(exceptEpics.length > 0, (query) =>
      query.where((eb) =>
        eb.or([eb('epic_id', 'is', null), eb('epic_id', 'not in', [...exceptEpics])]),
      ),
    )
    .executeTakeFirstOrThrow();
  return moving.n;
}
