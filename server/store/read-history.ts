// Reads the feed in pages and retells it as stories; finds what a report is about.

import { Refusal } from '../core/failure.ts';
import type { AttemptUsage, Report, ReportScope } from '../core/history/report.ts';
import { makeReport } from '../core/history/report.ts';
import { type RunStory, StoryTeller } from '../core/history/stories.ts';
import type { TaskStory } from '../core/history/task-story.ts';
import { windowsOf, type Window } from '../core/history/windows.ts';
import { eventView } from './feed.ts';
import { shown } from './field-checks.ts';
import { type Db, inParts, readAtOneMoment } from './read.ts';

const pageSize = 5_000;

/** Everything that the feed tells up to this event (null: to its end). */
export async function readStories(db: Db, upTo: number | null = null): Promise<StoryTeller> {
  const teller = new StoryTeller();
  for (;;) {
    const rows = await db
      .selectFrom('events')
      .selectAll()
      .where('seq', '>', teller.seq)
      .$if(upTo !== null, (query) => query.where('seq', '<=', upTo ?? 0))
      .orderBy('seq')
      .limit(pageSize)
      .execute();
    for (const row of rows) teller.take(eventView(row));
    if (rows.length < pageSize) return teller;
  }
}

/** A run's or an epic's report. Refuses an id that is neither. */
export async function readReport(db: Db, id: string, nowMs: number): Promise<Report> {
  return readAtOneMoment(db, async (at) => {
    const stories = await readStories(at);
    const scope =
      runScope(stories, stories.runs.get(id), nowMs) ?? (await epicScope(at, stories, id, nowMs));
    if (scope === null) {
      throw new Refusal(
        'unknown_id',
        `No run and no epic "${shown(id)}" in this project. Run "drover status" to see the last run, or "drover epic list" for the epics.`,
      );
    }
    return makeReport(stories, scope, await usageOf(at, scope.taskIds));
  });
}

function runScope(
  stories: StoryTeller,
  run: RunStory | undefined,
  nowMs: number,
): ReportScope | null {
  if (run === undefined) return null;
  const windows = windowsOf([run], nowMs);
  const isMeant = (task: TaskStory): boolean =>
    isTop(task) &&
    (task.attempts.some((attempt) => attempt.runId === run.id) ||
      ((run.epicId === null || task.epicId === run.epicId) && hasWaited(task, windows)));
  const tasks = [...stories.tasks.values()].filter(isMeant);
  return {
    kind: 'run',
    id: run.id,
    title: run.epicId === null ? 'all tasks' : run.epicId,
    state: run.state,
    windows,
    taskIds: tasks.map((task) => task.id),
  };
}

async function epicScope(
  db: Db,
  stories: StoryTeller,
  id: string,
  nowMs: number,
): Promise<ReportScope | null> {
  const epic = await db.selectFrom('epics').selectAll().where('id', '=', id).executeTakeFirst();
  if (epic === undefined) return null;
  const rows = await db
    .selectFrom('tasks')
    .select('id')
    .where('epic_id', '=', id)
    .where('parent_id', 'is', null)
    .orderBy('position')
    .execute();
  const taskIds = rows.map((row) => row.id);
  const own = new Set(taskIds);
  const runIds = new Set<string>();
  for (const task of stories.tasks.values()) {
    if (!own.has(task.id)) continue;
    for (const { runId } of task.attempts) if (runId !== null) runIds.add(runId);
  }
  const runs = [...stories.runs.values()].filter((run) => runIds.has(run.id) || run.epicId === id);
  const windows = windowsOf(runs, nowMs);
  const state = runs.some((run) => run.state === 'active')
    ? 'active'
    : (runs.at(-1)?.state ?? 'no run');
  return { kind: 'epic', id, title: epic.title, state, windows, taskIds };
}

/** Sub-tasks are parts of their parents' attempts. */
function isTop(task: TaskStory): boolean {
  return task.parentId === null;
}

function hasWaited(task: TaskStory, windows: readonly Window[]): boolean {
  return task.periods.some(({ startMs, endMs }) =>
    windows.some((window) => startMs <= window.endMs && (endMs ?? Infinity) > window.startMs),
  );
}

async function usageOf(db: Db, ids: readonly string[]): Promise<readonly AttemptUsage[]> {
  const found: AttemptUsage[] = [];
  for (const part of inParts(ids)) {
    const rows = await db
      .selectFrom('attempts')
      .select(['task_id', 'number', 'agent', 'model', 'input_tokens', 'output_tokens', 'cost_usd'])
      .where('task_id', 'in', part)
      .orderBy('task_id')
      .orderBy('number')
      .execute();
    found.push(...rows);
  }
  return found;
}
