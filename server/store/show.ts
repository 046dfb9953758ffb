// One task or one epic in the shape that clients see.

import type { EpicView, TaskView } from '../protocol/api.ts';
import { type Board, readBoard } from './board.ts';
import { epicOrRefuse, taskOrRefuse } from './find-rows.ts';
import { type Db, readAtOneMoment } from './read.ts';
import { unmetBlockers } from './transition.ts';
import { countTasks, epicView, taskView } from './views.ts';

export async function showTask(db: Db, id: string): Promise<TaskView> {
  return readAtOneMoment(db, async (at) => {
    const row = await taskOrRefuse(at, id);
    return taskView(row, await factsOf(at, id));
  });
}

export async function showEpic(
  db: Db,
  id: string,
): Promise<EpicView & { readonly tasks: readonly TaskView[] }> {
  return readAtOneMoment(db, async (at) => {
    const epic = await epicOrRefuse(at, id);
    const board = await readBoard(at);
    const rows = board.tasks.filter((row) => row.epic_id === id);
    const tasks = rows.map((row) => taskView(row, board));
    return { ...epicView(epic, countTasks(rows)), tasks };
  });
}

/** What a view needs besides the row, for one task. */
async function factsOf(
  db: Db,
  id: string,
): Promise<Pick<Board, 'blockedBy' | 'waitsFor' | 'running'>> {
  const edges = await db
    .selectFrom('task_dependencies')
    .select('blocked_by')
    .where('task_id', '=', id)
    .execute();
  const attempt = await db
    .selectFrom('attempts')
    .select(['task_id', 'number', 'agent', 'started_at_ms'])
    .where('task_id', '=', id)
    .where('state', '=', 'running')
    .executeTakeFirst();
  return {
    blockedBy: new Map([[id, edges.map((edge) => edge.blocked_by)]]),
    waitsFor: new Map([[id, await unmetBlockers(db, id)]]),
    running: new Map(attempt === undefined ? [] : [[id, attempt]]),
  };
}
