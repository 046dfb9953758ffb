// Reads the changes of the board since a feed number without reading the whole board. The feed
// names the changed tasks; the tasks that these affect (dependents and ancestors) are read with
// them. A board of 10,000 tasks is 11 MB of JSON, too much for each panel at each event.

import { readLine } from '../lines/lines.ts';
import type { TaskStatus } from '../../core/plan/state.ts';
import type { StatusSnapshot, TaskView } from '../../protocol/api.ts';
import type { BoardChanges } from '../../protocol/panel-views.ts';
import { NearTasks } from '../rows/near-tasks.ts';
import type { LineRow } from '../schema/tables.ts';
import { type Db, inParts, readAtOneMoment } from '../rows/one-moment.ts';
import {
  countEpics,
  countStatuses,
  readCurrentHolds,
  lastSeq,
  openQuestions,
  readSnapshot,
  type SnapshotExtras,
  targetView,
} from './snapshot.ts';
import { readBoard } from './board.ts';
import { forecastViews } from '../plan/forecasts.ts';
import { gateViews } from '../lines/running-gates.ts';
import { stuckViews } from './stuck.ts';
import { machinesOfTasks } from '../fleet/machine-views.ts';
import { readRunningAttempts, readTaskRows, taskView } from './task-view.ts';
import { findTouched, type FeedNote, type Touched } from '../feed/touched-tasks.ts';
import { unlandedScopes } from '../status/unlanded.ts';
import { epicProgress, runView } from './views.ts';
import { newestRun } from '../work/runs.ts';

/** With more events, a snapshot is cheaper. */
const eventsMax = 2_000;
const tasksMax = 1_000;

type Moment = Omit<BoardChanges, 'target' | 'config'> & {
  readonly mayChangeSettings: boolean;
  readonly line: LineRow | null;
  readonly branch: string | null;
};

export async function readChanges(
  db: Db,
  after: number,
  extras: SnapshotExtras,
): Promise<BoardChanges> {
  const moment = await readAtOneMoment(db, (at) => readMoment(at, after, extras));
  if (moment === null) return everything(after, await readSnapshot(db, {}, extras));
  const { branch, line, mayChangeSettings, ...changes } = moment;
  const target = await targetView(branch, line, extras);
  return { ...changes, target, ...(mayChangeSettings && { config: extras.config() }) };
}

/** Returns null if too much changed, or if the number is not from this feed. */
async function readMoment(at: Db, after: number, extras: SnapshotExtras): Promise<Moment | null> {
  const seq = await lastSeq(at);
  if (after > seq || seq - after > eventsMax) return null;
  const near = new NearTasks(at);
  const touched = await findTouched(near, await readNotes(at, after));
  if (touched.renumbered || touched.tasks.size > tasksMax) return null;
  const tasks = await readViews(at, near, [...touched.tasks]);
  const shown = new Set(tasks.map((task) => task.id));
  const counts = await countStatuses(at);
  const unlanded = await unlandedScopes(at);
  const run = await newestRun(at);
  const branch = run?.target_branch ?? extras.targetBranch;
  const line = branch === null ? null : await readLine(at, branch);
  return {
    after,
    seq,
    tasks,
    removed_tasks: [...touched.tasks].filter((id) => !shown.has(id)),
    epics: touched.epics ? await countEpics(at) : null,
    counts,
    progress: epicProgress(counts, unlanded.size > 0),
    run: run === null ? null : runView(run, line),
    branch,
    line,
    stuck: mayChangeStuck(touched, tasks) ? stuckViews(await readBoard(at)) : null,
    questions: await openQuestions(at),
    holds: await readCurrentHolds(at, run),
    snapshot: null,
    mayChangeSettings: touched.settings,
  };
}

async function readNotes(at: Db, after: number): Promise<readonly FeedNote[]> {
  const rows = await at
    .selectFrom('events')
    .select(['type', 'task_id', 'epic_id', 'data'])
    .where('seq', '>', after)
    .orderBy('seq')
    .execute();
  return rows.map((row) => ({
    type: row.type,
    taskId: row.task_id,
    epicId: row.epic_id,
    data: JSON.parse(row.data) as FeedNote['data'],
  }));
}

/** Views of these tasks in one consistent read, in board order. */
export async function readTaskViews(db: Db, ids: readonly string[]): Promise<readonly TaskView[]> {
  return readAtOneMoment(db, (at) => readViews(at, new NearTasks(at), ids));
}

async function readViews(at: Db, near: NearTasks, ids: readonly string[]): Promise<TaskView[]> {
  if (ids.length === 0) return [];
  const waits = await near.waits(ids);
  const running = await readRunningAttempts(at);
  const machines = await machinesOfTasks(at, running);
  const forecasts = await forecastViews(at);
  const gates = await gateViews(at);
  const views: TaskView[] = [];
  for (const part of inParts(ids)) {
    for (const row of await readTaskRows(at, part)) {
      const { id } = row.common;
      const { blockedBy, waitsFor } = waits.get(id) ?? { blockedBy: [], waitsFor: [] };
      const [attempt, machine] = [running.get(id), machines.get(id)];
      const [forecast, gate] = [forecasts.get(id), gates.get(id)];
      views.push(taskView(row, { blockedBy, waitsFor, attempt, machine, forecast, gate }));
    }
  }
  return views;
}

/**
 * Running tasks start and end without holding others. Only tasks that are or were blocked, or that
 * hold others, can matter.
 */
function mayChangeStuck(touched: Touched, tasks: readonly TaskView[]): boolean {
  if (touched.shape) return true;
  const atWork: ReadonlySet<TaskStatus> = new Set([
    'ready',
    'claimed',
    'in_progress',
    'waiting',
    'completed',
  ]);
  if (tasks.some((task) => !atWork.has(task.status))) return true;
  return [...touched.left].some((status) => !atWork.has(status));
}

function everything(after: number, snapshot: StatusSnapshot): BoardChanges {
  const { seq, epics, counts, progress, run, target, stuck, questions, holds } = snapshot;
  return {
    after,
    seq,
    tasks: [],
    removed_tasks: [],
    epics,
    counts,
    progress,
    run,
    target,
    stuck,
    questions,
    holds,
    snapshot,
  };
}
