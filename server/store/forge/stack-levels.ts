// Reads the levels of an epic's stack from the pushes that were sent and from their pull requests.

import type { PullRequestPlan } from '../../core/forge/pull-plan.ts';
import type { PushedLevel } from '../../core/forge/stack.ts';
import type { Reads } from '../schema/tables.ts';
import { outboxOfEpic } from './outbox.ts';
import { type PullRow, pullsOfEpic } from './pull-requests.ts';

export interface StackLevels {
  /** From the bottom. */
  readonly levels: readonly PushedLevel[];
  readonly nextPosition: number;
  /** Branch → its pull request. */
  readonly pulls: ReadonlyMap<string, PullRow>;
}

export async function stackLevels(db: Reads, epicId: string): Promise<StackLevels> {
  const rows = await outboxOfEpic(db, epicId);
  const pushes = rows
    .filter(({ kind }) => kind === 'push')
    .toSorted((one, other) => (one.ended_at_ms ?? 0) - (other.ended_at_ms ?? 0));
  const newest = new Map(
    (await pullsOfEpic(db, epicId)).toReversed().map((row) => [row.branch, row]),
  );
  const levels = new Map<string, PushedLevel>();
  let nextPosition = 1;
  for (const { request, state } of pushes) {
    const { branch, base, head, testedBase, level } = JSON.parse(request) as PullRequestPlan;
    if (level === undefined) continue;
    const { position, tasks, commits } = level;
    nextPosition = Math.max(nextPosition, position + 1);
    const pull = newest.get(branch);
    // A sent request that is planned again is pending again.
    if (state !== 'done' && pull === undefined) continue;
    const open = pull === undefined ? 'opening' : pull.state === 'stopped' ? 'closed' : pull.state;
    const own = pull === undefined ? { base, head } : { base: pull.base, head: pull.head_sha };
    levels.set(branch, { position, tasks, commits, branch, ...own, testedBase, state: open });
  }
  const sorted = [...levels.values()].toSorted((one, other) => one.position - other.position);
  return { levels: sorted, nextPosition, pulls: newest };
}

/** Maps each task of a stack of these epics to the pull request that brings its work. */
export async function pullsOfTasks(
  db: Reads,
  epicIds: Iterable<string>,
): Promise<ReadonlyMap<string, PullRow>> {
  const found = new Map<string, PullRow>();
  for (const epicId of epicIds) {
    const { levels, pulls } = await stackLevels(db, epicId);
    for (const { branch, tasks } of levels) {
      const pull = pulls.get(branch);
      if (pull !== undefined) for (const task of tasks) found.set(task, pull);
    }
  }
  return found;
}

/**
 * Maps each task that was created for a fact of a pull request to the branch of that pull request.
 */
export async function fixesOfPulls(
  db: Reads,
  epicId: string,
): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('forge_reactions as r')
    .innerJoin('forge_items as i', (join) =>
      join
        .onRef('i.provider', '=', 'r.provider')
        .onRef('i.host', '=', 'r.host')
        .onRef('i.native_id', '=', 'r.native_id'),
    )
    .select(['r.task_id', 'i.branch'])
    .where('i.epic_id', '=', epicId)
    .where('r.task_id', 'is not', null)
    .execute();
  return new Map(rows.map(({ task_id: task, branch }) => [task ?? '', branch]));
}
