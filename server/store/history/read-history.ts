// Computes reports, traces, metrics and the list of runs from the feed.

import { Refusal } from '../../core/failure.ts';
import type { Report, ReportBoard, ReportScope } from '../../core/history/report.ts';
import { type MetricsUsage, prometheusText } from '../../core/history/metrics.ts';
import { makeReport } from '../../core/history/report.ts';
import { newestFirst, runList, type RunList } from '../../core/history/run-list.ts';
import { runsOfTask, buildSpans } from '../../core/history/spans.ts';
import type { RunStory, StoryTeller } from '../../core/history/stories.ts';
import { forecastFigures } from '../../core/forecast/figures.ts';
import { readBlockCause } from '../../core/plan/block-cause.ts';
import { type AskedTasks, tasksInRun } from '../../core/history/run-scope.ts';
import { sumWaits } from '../../core/history/waits.ts';
import { buildWindows } from '../../core/history/windows.ts';
import { readPullTimes } from '../forge/pull-times.ts';
import { foreseenPairs } from '../plan/forecasts.ts';
import { shown } from '../rows/field-checks.ts';
import { hashHex } from '../rows/hex-of.ts';
import { type Db, inParts, readAtOneMoment } from '../rows/one-moment.ts';
import { openQuestions } from '../board/snapshot.ts';
import { tasksOfRun } from '../work/runs.ts';
import { type MetricsCaller, readMetricsBoard } from './metrics-board.ts';
import { ToldStories } from './told-stories.ts';
import type { SpanUsage, TraceSpan } from '../../core/history/trace-span.ts';

/**
 * The report of a run or an epic. `id` null: the latest run. Refuses an id that is neither. `told`,
 * here and below: stories that the caller keeps between calls.
 */
export async function readReport(
  db: Db,
  request: { readonly id: string | null; readonly nowMs: number },
  told = new ToldStories(),
): Promise<Report> {
  return readAtOneMoment(db, async (at) => {
    const stories = await told.read(at);
    const { nowMs } = request;
    const id = request.id ?? newestFirst(stories)[0]?.id ?? null;
    if (id === null) {
      throw new Refusal('unknown_id', 'No run has been started in this project yet.');
    }
    const scope =
      (await runScope(at, stories, stories.runs.get(id), nowMs)) ??
      (await epicScope(at, stories, id, nowMs));
    if (scope === null) {
      throw new Refusal(
        'unknown_id',
        `No run and no epic "${shown(id)}" in this project. Run "drover status" to see the last run, or "drover epic list" for the epics.`,
      );
    }
    const used = await readUsage(at, scope.taskIds);
    const report = makeReport(stories, scope, used, await readCounted(at));
    const pairs = await foreseenPairs(at, scope.taskIds);
    const conflicted = report.retries.filter(({ cause }) => cause === 'conflict');
    const ids = new Set(conflicted.map(({ task_id: task }) => task));
    const run = stories.runs.get(id);
    const epicId = run === undefined ? id : run.epicId;
    const pulls = epicId === null ? [] : await readPullTimes(at, epicId, nowMs);
    return { ...report, forecast: forecastFigures(pairs, ids), pulls };
  });
}

/** The spans of a run, an epic or a task. Refuses any other id. */
export async function readTrace(db: Db, id: string, nowMs: number): Promise<readonly TraceSpan[]> {
  return readAtOneMoment(db, async (at) => {
    const stories = await new ToldStories().read(at);
    const isRun = stories.runs.has(id);
    const epic = isRun ? null : await epicScope(at, stories, id, nowMs);
    if (!isRun && epic === null && !stories.tasks.has(id)) {
      throw new Refusal(
        'unknown_id',
        `No run, epic or task "${shown(id)}" in this project. Run "drover status" to list tasks.`,
      );
    }
    const taskIds = isRun ? null : new Set(epic?.taskIds ?? [id]);
    const runIds = isRun ? [id] : runsOf(stories, taskIds ?? new Set());
    const used = taskIds === null ? [...stories.tasks.keys()] : [...taskIds];
    return buildSpans(stories, { taskIds, runIds }, await readUsage(at, used), hashHex);
  });
}

/** The project's runs, newest first. `search`: words that must all occur in a run. */
export async function readRuns(
  db: Db,
  request: { readonly search: string; readonly max: number; readonly nowMs: number },
  told = new ToldStories(),
): Promise<RunList> {
  return readAtOneMoment(db, async (at) => {
    const stories = await told.read(at);
    const used = await readUsage(at, [...stories.tasks.keys()]);
    return runList(stories, used, {
      ...request,
      epicTitles: await epicTitles(at),
      asked: await askedTasks(at),
      board: await readCounted(at),
    });
  });
}

async function epicTitles(db: Db): Promise<ReadonlyMap<string, string>> {
  const rows = await db.selectFrom('epics').select(['id', 'title']).execute();
  return new Map(rows.map(({ id, title }) => [id, title]));
}

function runsOf(stories: StoryTeller, taskIds: ReadonlySet<string>): readonly string[] {
  const found = new Set<string>();
  for (const id of taskIds) {
    const task = stories.tasks.get(id);
    if (task !== undefined) for (const runId of runsOfTask(task)) found.add(runId);
  }
  return [...found];
}

/** All metrics in the Prometheus text format. */
export async function readMetrics(
  db: Db,
  nowMs: number,
  caller: MetricsCaller,
  told = new ToldStories(),
): Promise<string> {
  return readAtOneMoment(db, async (at) => {
    const stories = await told.read(at);
    const usage = await at
      .selectFrom('attempts')
      .select((eb) => [
        'agent',
        eb.fn.sum<number>('input_tokens').as('input_tokens'),
        eb.fn.sum<number>('output_tokens').as('output_tokens'),
        eb.fn.sum<number>('cost_usd').as('cost_usd'),
      ])
      .groupBy('agent')
      .orderBy('agent')
      .execute();
    const windows = buildWindows(stories.runs.values(), nowMs);
    const carried = await at.selectFrom('metrics_carried').selectAll().execute();
    return prometheusText(stories, {
      project: caller.project,
      usage: usage.map(numeric),
      waits: sumWaits(stories, windows),
      carried: new Map(carried.map(({ series, value }) => [series, value])),
      board: await readMetricsBoard(at, nowMs, caller),
    });
  });
}

/** PostgreSQL returns sums of integers as text. */
function numeric(row: MetricsUsage): MetricsUsage {
  return {
    agent: row.agent,
    input_tokens: Number(row.input_tokens),
    output_tokens: Number(row.output_tokens),
    cost_usd: Number(row.cost_usd),
  };
}

async function runScope(
  db: Db,
  stories: StoryTeller,
  run: RunStory | undefined,
  nowMs: number,
): Promise<ReportScope | null> {
  if (run === undefined) return null;
  const titles = await epicTitles(db);
  const windows = buildWindows([run], nowMs);
  const tasks = tasksInRun(stories, run, windows, await askedTasks(db));
  return {
    kind: 'run',
    id: run.id,
    title: run.epicId === null ? 'all tasks' : (titles.get(run.epicId) ?? run.epicId),
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
  const windows = buildWindows(runs, nowMs);
  const state = runs.some((run) => run.state === 'active')
    ? 'active'
    : (runs.at(-1)?.state ?? 'no run');
  return { kind: 'epic', id, title: epic.title, state, windows, taskIds };
}

async function askedTasks(db: Db): Promise<AskedTasks> {
  const rows = await db.selectFrom('runs').select(['id', 'flags']).execute();
  return new Map(
    rows.flatMap((row) => {
      const tasks = tasksOfRun(row);
      return tasks === null ? [] : [[row.id, new Set(tasks)] as const];
    }),
  );
}

/** The current values that task counts are computed from. */
async function readCounted(db: Db): Promise<ReportBoard> {
  const rows = await db
    .selectFrom('tasks')
    .select(['id', 'title', 'epic_id', 'parent_id', 'candidate_of', 'status', 'phase'])
    .select(['blocked_reason', 'blocked_by', 'review_kind', 'landed_on', 'landed_sha'])
    .execute();
  return {
    tasks: rows.map(({ blocked_by: stored, ...row }) => ({
      ...row,
      block: row.blocked_reason === null ? null : readBlockCause(stored),
    })),
    questions: await openQuestions(db),
    epics: await db.selectFrom('epics').select(['id', 'landing_state']).execute(),
  };
}

export async function readUsage(db: Db, ids: readonly string[]): Promise<readonly SpanUsage[]> {
  const found: SpanUsage[] = [];
  for (const part of inParts(ids)) {
    const rows = await db
      .selectFrom('attempts')
      .select(['task_id', 'number', 'agent', 'model', 'input_tokens', 'output_tokens', 'cost_usd'])
      .select((eb) =>
        eb
          .case()
          .when('session_started', '=', 1)
          .then(eb.ref('session_id'))
          .end()
          .as('conversation'),
      )
      .where('task_id', 'in', part)
      .orderBy('task_id')
      .orderBy('number')
      .execute();
    found.push(...rows);
  }
  return found;
}
