// Converts the stories of tasks, gates and runs to spans, with one trace per run. Pure. A span is
// created only when it can no longer change, so live export and later export send the same span.
// Only a resumed run ends more than once.

import { type HashHex, spanIdForRun, spanIdForTask, traceIdForRun } from './span-ids.ts';
import type { GateStory, Stories } from './stories.ts';
import { taskSpans } from './task-spans.ts';
import type { TaskStory } from './task-story.ts';
import { buildWindows, type Window } from './windows.ts';
import type { TraceSpan, SpanUsage, RunSource } from './trace-span.ts';

export interface SpanScope {
  /** If not null, only these tasks are included. */
  readonly taskIds: ReadonlySet<string> | null;
  /** Only runs that worked on one of these tasks. */
  readonly runIds: readonly string[];
}

/**
 * Completed spans in the order of their start. A span that is still running is included after it
 * ends.
 */
export function buildSpans(
  stories: Stories,
  scope: SpanScope,
  usage: readonly SpanUsage[],
  hex: HashHex,
): readonly TraceSpan[] {
  const used = new Map(usage.map((one) => [`${one.task_id}/${one.number}`, one]));
  const tasks = tasksByRun(stories, scope);
  const spans = scope.runIds.flatMap((id) => {
    const run = stories.runs.get(id);
    if (run === undefined) return [];
    const windows = buildWindows([run], stories.lastMs);
    const source = { run, windows, traceId: traceIdForRun(hex, id), rootId: spanIdForRun(hex, id) };
    return runSpans(stories, scope, tasks.get(id) ?? [], { ...source, used, hex });
  });
  return spans.toSorted((a, b) => a.startMs - b.startMs);
}

function tasksByRun(
  stories: Stories,
  { taskIds, runIds }: SpanScope,
): ReadonlyMap<string, TaskStory[]> {
  const found = new Map<string, TaskStory[]>(runIds.map((id) => [id, []]));
  for (const task of stories.tasks.values()) {
    if (taskIds !== null && !taskIds.has(task.id)) continue;
    for (const id of runsOfTask(task)) found.get(id)?.push(task);
  }
  return found;
}

/** The runs that worked on the task. */
export function runsOfTask(task: TaskStory): ReadonlySet<string> {
  const runs = task.attempts.flatMap(({ runId, lastRunId, turns }) => [
    runId,
    lastRunId,
    ...turns.map((turn) => turn.runId),
  ]);
  return new Set(runs.filter((id) => id !== null));
}

function runSpans(
  stories: Stories,
  { taskIds: only }: SpanScope,
  tasks: readonly TaskStory[],
  source: RunSource,
): TraceSpan[] {
  const ids = new Set(tasks.map((task) => task.id));
  const root = runSpan(source);
  return [
    ...(root === null ? [] : [root]),
    ...tasks.flatMap((task) => taskSpans(task, source)),
    ...stories.gates
      .filter((gate) => belongsTo(gate, ids, only, source.windows))
      .map((gate) => gateSpan(gate, ids, source)),
  ];
}

function runSpan({ run, windows, traceId, rootId }: RunSource): TraceSpan | null {
  const [first] = windows;
  const last = windows.at(-1);
  if (first === undefined || last === undefined || !run.isOver) return null;
  return {
    traceId,
    spanId: rootId,
    parentId: null,
    name: 'drover.workflow.run',
    startMs: first.startMs,
    endMs: last.endMs,
    attributes: {
      'drover.workflow.id': run.id,
      'drover.workflow.state': run.state,
      ...(run.epicId !== null && { 'drover.epic.id': run.epicId }),
      ...(run.workers !== null && {
        'drover.workflow.type': run.workers === 1 ? 'sequential' : 'parallel',
        'drover.worker.count': run.workers,
      }),
    },
    error: null,
    links: [],
  };
}

function belongsTo(
  gate: GateStory,
  ids: ReadonlySet<string>,
  only: ReadonlySet<string> | null,
  windows: readonly Window[],
): boolean {
  if (!windows.some(({ startMs, endMs }) => gate.endMs >= startMs && gate.endMs <= endMs))
    return false;
  return gate.taskIds.some((id) => ids.has(id)) || (only === null && gate.taskIds.length === 0);
}

function gateSpan(
  gate: GateStory,
  ids: ReadonlySet<string>,
  { run, hex, traceId, rootId }: RunSource,
): TraceSpan {
  return {
    traceId,
    spanId: hex(`gate/${run.id}/${gate.seq}`, 16),
    parentId: rootId,
    name: 'drover.gate.run',
    startMs: gate.startMs,
    endMs: gate.endMs,
    attributes: {
      'drover.gate.passed': gate.isGreen,
      'drover.gate.flaky': gate.isFlaky,
      ...(gate.exitCode !== null && { 'drover.gate.exit_code': gate.exitCode }),
    },
    error: gate.isGreen ? null : 'The gate failed.',
    links: gate.taskIds.filter((id) => ids.has(id)).map((id) => spanIdForTask(hex, run.id, id)),
  };
}
