// Reports how a run or an epic spent its time and money: landings, waits with their causes, and why
// it took that long. Pure. Times are clipped to windows in which runs were active.

import { formatCount } from '../format.ts';
import type { ForecastFigures } from '../forecast/figures.ts';
import type { ReportPull } from '../forge/pull-waits.ts';
import {
  countOutcomes,
  type OutcomeCounts,
  outcomesOfTasks,
  type CountedBoard,
  type CountedTask,
  type TaskOutcome,
} from '../plan/outcome.ts';
import type { TaskStatus } from '../plan/state.ts';
import { criticalPath, type PathStep } from './critical-path.ts';
import { listReportAttempts, type ReportAttempt } from './report-attempts.ts';
import type { GateStory, SkippedStage, Stories, UnusedGate } from './stories.ts';
import type { Period, PeriodKind, TaskStory } from './task-story.ts';
import { clippedMs, isWithin, joined, overlaps, type Window } from './windows.ts';
import type { AttemptUsage } from './run-usage.ts';

export interface ReportScope {
  readonly kind: 'run' | 'epic';
  readonly id: string;
  readonly title: string;
  /** `active`, `stopped` or `finished`. */
  readonly state: string;
  readonly windows: readonly Window[];
  readonly taskIds: readonly string[];
}

export interface ReportWait {
  readonly kind: PeriodKind;
  readonly task_id: string;
  readonly on: readonly string[];
  readonly started_at_ms: number;
  readonly ms: number;
}

export interface ReportModel {
  readonly agent: string;
  readonly model: string | null;
  readonly attempts: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly usd: number;
}

export interface ReportRetry {
  readonly task_id: string;
  readonly attempt: number;
  readonly agent: string | null;
  readonly cause: string;
  readonly error: string | null;
  /** Duration of the attempt from its claim to its end. */
  readonly ms: number;
}

export interface ReportTask {
  readonly id: string;
  readonly title: string;
  readonly status: TaskStatus;
  readonly outcome: TaskOutcome;
  readonly attempts: number;
  readonly sha: string | null;
  readonly branch: string | null;
  readonly landed_at_ms: number | null;
  readonly usd: number;
}

export interface SkippedStages {
  readonly stage: string;
  readonly paths: readonly string[];
  /** Number of merges that landed without the stage. */
  readonly times: number;
}

export interface Report {
  readonly kind: 'run' | 'epic';
  readonly id: string;
  readonly title: string;
  readonly state: string;
  readonly windows: readonly { readonly started_at_ms: number; readonly ended_at_ms: number }[];
  /** The time during which a run was active. */
  readonly duration_ms: number;
  /** Outcomes of its tasks so far; each task is counted once. */
  readonly counts: OutcomeCounts;
  /** All completed tasks, including those that are only on their epic's branch so far. */
  readonly landed: readonly ReportTask[];
  /** Tasks that are neither completed nor canceled. */
  readonly left: readonly ReportTask[];
  /** Milliseconds, summed over all tasks. */
  readonly time: { readonly [K in PeriodKind]: number };
  /** Longest first. */
  readonly waits: readonly ReportWait[];
  readonly critical_path: readonly PathStep[];
  readonly gate: {
    readonly runs: number;
    readonly passed: number;
    readonly failed: number;
    readonly flaky: number;
    readonly ms: number;
    /** Milliseconds of early gates that were canceled or whose verdict was not needed. */
    readonly unused_ms: number;
    /** Stages that landings did not need. Absent in a report of an older backend. */
    readonly skipped?: readonly SkippedStages[];
  };
  /** From the commit of finished work to its landing or return, including the gate. */
  readonly landing: {
    readonly count: number;
    readonly average_ms: number;
    readonly longest_ms: number;
    /**
     * The share of `duration_ms` during which a gate ran, from 0 to 1. At 1, the line has no spare
     * capacity.
     */
    readonly gate_share: number;
  };
  readonly cost: {
    readonly usd: number;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly by_model: readonly ReportModel[];
  };
  /** Absent in the report of an older backend. */
  readonly forecast?: ForecastFigures;
  /** The epic's pull requests. Absent in a report of an older backend. */
  readonly pulls?: readonly ReportPull[];
  readonly retries: readonly ReportRetry[];
  /** Oldest first, for a timeline. */
  readonly attempts: readonly ReportAttempt[];
}

/** Limits the list, because a run of 10,000 tasks may have as many waits. */
const waitsMax = 50;

export const waitKinds: ReadonlySet<PeriodKind> = new Set([
  'blocked',
  'queued',
  'retry',
  'quota',
  'review',
  'question',
  'conflict',
  'paused',
]);

export interface ReportRow extends CountedTask {
  readonly title: string;
  readonly landed_sha: string | null;
}

/** The current tasks. The feed only contains their history. */
export interface ReportBoard extends CountedBoard {
  readonly tasks: readonly ReportRow[];
}

export function makeReport(
  stories: Stories,
  scope: ReportScope,
  usage: readonly AttemptUsage[],
  board: ReportBoard,
): Report {
  const { windows } = scope;
  const tasks = scope.taskIds.flatMap((id) => stories.tasks.get(id) ?? []);
  const used = usage.filter(isIn(new Map(tasks.map((task) => [task.id, task])), windows));
  const usedBy = Map.groupBy(used, ({ task_id: id }) => id);
  const views = viewsOf(scope.taskIds, stories, usedBy, board);
  const landed = views.filter(({ status }) => status === 'completed');
  const waits = tasks.flatMap((task) => waitsOf(task, windows));
  const ids = new Set(scope.taskIds);
  const gates = gatesOf(stories.gates, ids, scope);
  const durationMs = sumOf(windows);
  const gateMs = sumOf(joined(gates));
  return {
    kind: scope.kind,
    id: scope.id,
    title: scope.title,
    state: scope.state,
    windows: windows.map(({ startMs, endMs }) => ({ started_at_ms: startMs, ended_at_ms: endMs })),
    duration_ms: durationMs,
    counts: countOutcomes(views.map(({ outcome }) => outcome)),
    landed: landed.toSorted((a, b) => (a.landed_at_ms ?? 0) - (b.landed_at_ms ?? 0)),
    left: views.filter((view) => view.status !== 'completed' && view.status !== 'cancelled'),
    time: timeByKind(tasks, windows),
    waits: waits.toSorted((a, b) => b.ms - a.ms).slice(0, waitsMax),
    critical_path: criticalPath(tasks, windows),
    gate: {
      ...gateFigures(gates, stories.unusedGates.filter(isOf(ids, windows))),
      skipped: countSkipped(stories.skippedStages.filter(isOf(ids, windows))),
    },
    landing: landingFigures(tasks, windows, durationMs === 0 ? 0 : gateMs / durationMs),
    cost: costOf(used),
    retries: tasks.flatMap((task) => retriesOf(task, windows)),
    attempts: listReportAttempts(tasks, windows, used),
  };
}

function isIn(
  tasks: ReadonlyMap<string, TaskStory>,
  windows: readonly Window[],
): (usage: AttemptUsage) => boolean {
  return ({ task_id: id, number }) => {
    const attempt = tasks.get(id)?.attempts.find((one) => one.number === number);
    return attempt !== undefined && overlaps(attempt, windows);
  };
}

/** Omits removed tasks: they used time and money, but have no outcome to count. */
function viewsOf(
  ids: readonly string[],
  { tasks }: Pick<Stories, 'tasks'>,
  usedBy: ReadonlyMap<string, readonly AttemptUsage[]>,
  board: ReportBoard,
): readonly ReportTask[] {
  const outcomes = outcomesOfTasks(board);
  const rows = new Map(board.tasks.map((row) => [row.id, row]));
  return ids.flatMap((id): ReportTask[] => {
    const row = rows.get(id);
    const outcome = outcomes.get(id);
    if (row === undefined || outcome === undefined) return [];
    const own = usedBy.get(id) ?? [];
    const isLanded = row.status === 'completed';
    return [
      {
        id,
        title: row.title,
        status: row.status,
        outcome,
        attempts: own.length,
        sha: isLanded ? row.landed_sha : null,
        branch: isLanded ? row.landed_on : null,
        landed_at_ms: isLanded ? (tasks.get(id)?.landedMs ?? null) : null,
        usd: own.reduce((sum, usage) => sum + usage.cost_usd, 0),
      },
    ];
  });
}

function waitsOf(task: TaskStory, windows: readonly Window[]): ReportWait[] {
  return task.periods
    .filter((period) => waitKinds.has(period.kind))
    .map((period) => ({
      kind: period.kind,
      task_id: task.id,
      on: period.on,
      started_at_ms: Math.max(period.startMs, windows[0]?.startMs ?? period.startMs),
      ms: clippedMs(period, windows),
    }))
    .filter((wait) => wait.ms > 0);
}

const noTime: { readonly [K in PeriodKind]: number } = {
  blocked: 0,
  queued: 0,
  retry: 0,
  setup: 0,
  agent: 0,
  landing: 0,
  quota: 0,
  review: 0,
  question: 0,
  conflict: 0,
  paused: 0,
};

function timeByKind(tasks: readonly TaskStory[], windows: readonly Window[]): Report['time'] {
  const time = { ...noTime };
  const add = (period: Period): void => {
    time[period.kind] += clippedMs(period, windows);
  };
  for (const task of tasks) task.periods.forEach(add);
  return time;
}

function landingFigures(
  tasks: readonly TaskStory[],
  windows: readonly Window[],
  gateShare: number,
): Report['landing'] {
  const times = tasks
    .flatMap(({ periods }) => periods)
    .filter(({ kind }) => kind === 'landing')
    .map((period) => clippedMs(period, windows))
    .filter((ms) => ms > 0);
  const total = times.reduce((sum, ms) => sum + ms, 0);
  return {
    count: times.length,
    average_ms: times.length === 0 ? 0 : Math.round(total / times.length),
    longest_ms: Math.max(0, ...times),
    gate_share: Math.min(1, gateShare),
  };
}

function gatesOf(
  gates: readonly GateStory[],
  ids: ReadonlySet<string>,
  { windows, kind, id }: ReportScope,
): readonly GateStory[] {
  return gates.filter(
    (gate) =>
      windows.some((window) => isWithin(gate.endMs, window)) &&
      (gate.taskIds.some((task) => ids.has(task)) ||
        (kind === 'epic' ? gate.epicIds.includes(id) : gate.taskIds.length === 0)),
  );
}

function isOf(
  ids: ReadonlySet<string>,
  windows: readonly Window[],
): (gate: Pick<UnusedGate, 'endMs' | 'taskIds'>) => boolean {
  return ({ endMs, taskIds }) =>
    taskIds.some((task) => ids.has(task)) && windows.some((window) => isWithin(endMs, window));
}

function gateFigures(own: readonly GateStory[], unused: readonly UnusedGate[]): Report['gate'] {
  const passed = own.filter((gate) => gate.isGreen).length;
  return {
    runs: own.length,
    passed,
    failed: own.length - passed,
    flaky: own.filter((gate) => gate.isFlaky).length,
    ms: sumOf(own),
    unused_ms: unused.reduce((sum, { ms }) => sum + ms, 0),
  };
}

function countSkipped(all: readonly SkippedStage[]): readonly SkippedStages[] {
  const counted = new Map<string, SkippedStages>();
  for (const { stage, paths } of all) {
    const key = JSON.stringify([stage, paths]);
    const times = (counted.get(key)?.times ?? 0) + 1;
    counted.set(key, { stage, paths, times });
  }
  return [...counted.values()];
}

/** Explains to people why a stage was skipped. */
export function skippedStageText({ stage, paths, times }: SkippedStages): string {
  const landings = formatCount(times, 'landing');
  return `The stage ${stage} was skipped in ${landings} that changed nothing in ${paths.join(', ')}.`;
}

function sumOf(all: readonly Window[]): number {
  return all.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
}

function costOf(used: readonly AttemptUsage[]): Report['cost'] {
  const models = new Map<string, ReportModel>();
  for (const usage of used) {
    const key = `${usage.agent}\0${usage.model ?? ''}`;
    const known = models.get(key);
    models.set(key, {
      agent: usage.agent,
      model: usage.model,
      attempts: (known?.attempts ?? 0) + 1,
      input_tokens: (known?.input_tokens ?? 0) + usage.input_tokens,
      output_tokens: (known?.output_tokens ?? 0) + usage.output_tokens,
      usd: (known?.usd ?? 0) + usage.cost_usd,
    });
  }
  const byModel = [...models.values()].sort((a, b) => b.usd - a.usd || b.attempts - a.attempts);
  return {
    usd: byModel.reduce((sum, model) => sum + model.usd, 0),
    input_tokens: byModel.reduce((sum, model) => sum + model.input_tokens, 0),
    output_tokens: byModel.reduce((sum, model) => sum + model.output_tokens, 0),
    by_model: byModel,
  };
}

/** Attempts whose work did not land. */
function retriesOf(task: TaskStory, windows: readonly Window[]): ReportRetry[] {
  return task.attempts
    .filter(
      (attempt) =>
        attempt.endMs !== null &&
        attempt.outcome !== 'completed' &&
        attempt.outcome !== 'needs_review' &&
        overlaps(attempt, windows),
    )
    .map((attempt) => ({
      task_id: task.id,
      attempt: attempt.number,
      agent: attempt.agent,
      cause: attempt.failureKind ?? attempt.outcome ?? 'unknown',
      error: attempt.error,
      ms: Math.max(0, (attempt.endMs ?? attempt.startMs) - attempt.startMs),
    }));
}
