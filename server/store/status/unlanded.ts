// Finds completed work that is on an epic's line but not yet on the epic's target.

import { epicLinePrefix } from '../../core/plan/outcome.ts';
import type { Scope } from '../rows/scope.ts';
import type { Reads } from '../schema/tables.ts';

/**
 * Epics (null = none) of completed tasks whose work is on the line of an epic that has not landed.
 */
export async function unlandedScopes(db: Reads): Promise<ReadonlySet<string | null>> {
  const open = await db
    .selectFrom('epics')
    .select('id')
    .where((eb) => eb.or([eb('landing_state', 'is', null), eb('landing_state', '!=', 'landed')]))
    .execute();
  if (open.length === 0) return new Set();
  const rows = await db
    .selectFrom('tasks')
    .select('epic_id')
    .distinct()
    .where('status', '=', 'completed')
    .where('landed_sha', 'is not', null)
    .where(
      'landed_on',
      'in',
      open.map(({ id }) => `${epicLinePrefix}${id}`),
    )
    .execute();
  return new Set(rows.map((row) => row.epic_id));
}

export interface LandedElsewhere {
  readonly id: string;
  readonly sha: string;
  readonly branch: string;
}

/** Completed tasks of a scope that landed on an epic's line other than the given ones. */
export async function landedElsewhere(
  db: Reads,
  scope: Scope,
  lines: readonly string[],
): Promise<readonly LandedElsewhere[]> {
  const { epicId, exceptEpics, tasks } = scope;
  const rows = await db
    .selectFrom('tasks')
    .select(['id', 'landed_sha', 'landed_on'])
    .where('status', '=', 'completed')
    .where('parent_id', 'is', null)
    .where('landed_sha', 'is not', null)
    .where('landed_on', 'like', `${epicLinePrefix}%`)
    .where('landed_on', 'not in', [...lines])
    .$if(epicId !== null, (query) => query.where('epic_id', '=', epicId))
    .$if(tasks !== null, (query) => query.where('id', 'in', tasks ?? []))
    .$if(exceptEpics.length > 0, (query) =>
      query.where((eb) =>
        eb.or([eb('epic_id', 'is', null), eb('epic_id', 'not in', [...exceptEpics])]),
      ),
    )
    .orderBy('position')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    sha: row.landed_sha ?? '',
    branch: row.landed_on ?? '',
  }));
}
