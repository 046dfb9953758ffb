// Formats one task or one epic for clients.

import type { EpicView, TaskView } from '../../protocol/api.ts';
import { readBoard } from './board.ts';
import { forecastViews } from '../plan/forecasts.ts';
import { gateViews } from '../lines/running-gates.ts';
import { epicOrRefuse, unknownTask } from '../rows/find-rows.ts';
import { unlandedScopes } from '../status/unlanded.ts';
import { machinesOfTasks } from '../fleet/machine-views.ts';
import { lastPlan, planView } from '../status/plans.ts';
import { type Db, readAtOneMoment } from '../rows/one-moment.ts';
import { readRunningAttempts, readTaskRows, taskView } from './task-view.ts';
import { unmetBlockers } from '../status/transition.ts';
import { countTasks, epicView } from './views.ts';
import { readEdges } from '../status/graph-rows.ts';

export async function showTask(db: Db, id: string): Promise<TaskView> {
  return readAtOneMoment(db, async (at) => {
    const [row] = await readTaskRows(at, [id]);
    if (row === undefined) throw unknownTask(id);
    const running = await readRunningAttempts(at, id);
    const edges = await readEdges(at, [id]);
    const plan = await lastPlan(at, id);
    const proposal = plan === null ? {} : { proposal: planView(plan) };
    return taskView(
      { ...row, ...proposal },
      {
        blockedBy: edges.map((edge) => edge.blocked_by),
        waitsFor: await unmetBlockers(at, id),
        attempt: running.get(id),
        machine: (await machinesOfTasks(at, running, id)).get(id),
        forecast: (await forecastViews(at, id)).get(id),
        gate: (await gateViews(at)).get(id),
      },
    );
  });
}

export async function showEpic(
  db: Db,
  id: string,
): Promise<EpicView & { readonly tasks: readonly TaskView[] }> {
  return readAtOneMoment(db, async (at) => {
    const epic = await epicOrRefuse(at, id);
    const board = await readBoard(at);
    const unlanded = await unlandedScopes(at);
    const tasks = board.tasks.filter((task) => task.epic_id === id);
    return { ...epicView(epic, countTasks(tasks), unlanded.has(id)), tasks };
  });
}
