// The stories of tasks, gates and runs as the spans of a trace: one trace for each run. Pure; the ids follow from names, so
// that the same span has the same id whenever it is made.

import { type AttemptUsage, waitKinds } from './report.ts';
import type { GateStory, RunStory, Stories } from './stories.ts';
import type { AttemptStory, Period, PeriodKind, TaskStory } from './task-story.ts';
import { windowsOf, type Window } from './windows.ts';

export type SpanValue = string | number | boolean | readonly string[];

export interface TraceSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  readonly parentId: string | null;
  readonly name: string;
  /** Unix milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Readonly<Record<string, SpanValue>>;
  /** Why it failed; null when it did not. */
  readonly error: string | null;
  /** Ids of spans of the same trace that it has to do with. */
  readonly links: readonly string[];
}

/** So many hexadecimal digits that follow from the text. */
export type HexOf = (text: string, digits: number) => string;

export function traceIdOf(hex: HexOf, runId: string): string {
  return hex(`trace/${runId}`, 32);
}

/** The span of an attempt's agent: what `TRACEPARENT` names to the agent. */
export function agentSpanIdOf(hex: HexOf, runId: string, taskId: string, attempt: number): string {
  return hex(`agent/${runId}/${taskId}/${attempt}`, 16);
}

function taskSpanIdOf(hex: HexOf, runId: string, taskId: string): string {
  return hex(`task/${runId}/${taskId}`, 16);
}

export interface SpanScope {
  /** Only these tasks; null: all. */
  readonly taskIds: ReadonlySet<string> | null;
  /** Only runs that worked on one of them. */
  readonly runIds: readonly string[];
}

/** What has ended, in the order of its beginning. What still runs comes when it has ended. */
export function spansOf(
  stories: Stories,
  scope: SpanScope,
  usage: readonly AttemptUsage[],
  hex: HexOf,
): readonly TraceSpan[] {
  const used = new Map(usage.map((one) => [`${one.task_id}/${one.number}`, one]));
  const spans = scope.runIds.flatMap((id) => {
    const run = stories.runs.get(id);
    return run === undefined ? [] : runSpans(stories, run, scope.taskIds, { used, hex });
  });
  return spans.toSorted((a, b) => a.startMs - b.startMs);
}

interface Sources {
  readonly used: ReadonlyMap<string, AttemptUsage>;
  readonly hex: HexOf;
}

function runSpans(
  stories: Stories,
  run: RunStory,
  only: ReadonlySet<string> | null,
  sources: Sources,
): TraceSpan[] {
  const { hex } = sources;
  const traceId = traceIdOf(hex, run.id);
  const rootId = hex(`run/${run.id}`, 16);
  const windows = windowsOf([run], stories.lastMs);
  const tasks = [...stories.tasks.values()].filter(
    (task) =>
      (only === null || only.has(task.id)) &&
      task.attempts.some((attempt) => attempt.runId === run.id),
  );
  const ids = new Set(tasks.map((task) => task.id));
  const root = runSpan(run, windows, { traceId, rootId });
  return [
    ...(root === null ? [] : [root]),
    ...tasks.flatMap((task) => taskSpans(task, run, windows, { ...sources, traceId, rootId })),
    ...stories.gates
      .filter((gate) => belongsTo(gate, ids, only, windows))
      .map((gate) => gateSpan(gate, run, ids, { ...sources, traceId, rootId })),
  ];
}

interface Root {
  readonly traceId: string;
  readonly rootId: string;
}

function runSpan(
  run: RunStory,
  windows: readonly Window[],
  { traceId, rootId }: Root,
): TraceSpan | null {
  const [first] = windows;
  const last = windows.at(-1);
  if (first === undefined || last === undefined || run.windows.at(-1)?.endMs === null) return null;
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
      ...(run.workers !== null && { 'drover.worker.count': run.workers }),
    },
    error: null,
    links: [],
  };
}

const periodNames: { readonly [K in PeriodKind]: string } = {
  blocked: 'drover.wait.blocker',
  queued: 'drover.wait.slot',
  retry: 'drover.wait.retry',
  setup: 'drover.worktree.setup',
  agent: 'drover.agent.execute',
  landing: 'drover.landing',
  quota: 'drover.wait.quota',
  review: 'drover.wait.person',
  question: 'drover.wait.person',
  conflict: 'drover.wait.person',
  paused: 'drover.wait.person',
};

function taskSpans(
  task: TaskStory,
  run: RunStory,
  windows: readonly Window[],
  sources: Sources & Root,
): TraceSpan[] {
  const { hex, traceId, rootId } = sources;
  const spanId = taskSpanIdOf(hex, run.id, task.id);
  const own = task.periods.flatMap((period) => clipped(period, windows));
  const [first] = own;
  const ended = own.filter((period) => period.endMs !== null);
  const endMs = Math.max(...ended.map((period) => period.endMs ?? 0));
  const isOver = ended.length === own.length && first !== undefined;
  const isFailed = task.status === 'failed';
  const lastAttempt = task.attempts.at(-1);
  const span: TraceSpan[] = isOver
    ? [
        {
          traceId,
          spanId,
          parentId: rootId,
          name: 'drover.task.execute',
          startMs: first.startMs,
          endMs,
          attributes: {
            ...taskAttributes(task),
            'drover.task.state': task.status,
            'drover.task.attempt': lastAttempt?.number ?? 0,
          },
          error: isFailed ? (lastAttempt?.error ?? 'failed') : null,
          links: [],
        },
      ]
    : [];
  const waits = ended
    .filter((period) => period.kind !== 'agent')
    .map((period) => periodSpan(task, run, period, { ...sources, rootId: spanId }));
  const agents = task.attempts
    .filter((attempt) => attempt.runId === run.id)
    .flatMap((attempt) => agentSpan(task, run, attempt, { ...sources, rootId: spanId }) ?? []);
  return [...span, ...waits, ...agents];
}

function taskAttributes(task: TaskStory): Record<string, SpanValue> {
  return {
    'drover.task.id': task.id,
    'drover.task.title': task.title,
    ...(task.epicId !== null && { 'drover.epic.id': task.epicId }),
  };
}

function clipped(period: Period, windows: readonly Window[]): Period[] {
  return windows.flatMap(({ startMs, endMs }) => {
    const from = Math.max(startMs, period.startMs);
    const to = period.endMs === null ? null : Math.min(endMs, period.endMs);
    return from < endMs && (to === null || to > from)
      ? [{ ...period, startMs: from, endMs: to }]
      : [];
  });
}

function periodSpan(
  task: TaskStory,
  run: RunStory,
  period: Period,
  { hex, traceId, rootId }: Sources & Root,
): TraceSpan {
  return {
    traceId,
    spanId: hex(`${period.kind}/${run.id}/${task.id}/${period.startMs}`, 16),
    parentId: rootId,
    name: periodNames[period.kind],
    startMs: period.startMs,
    endMs: period.endMs ?? period.startMs,
    attributes: {
      ...taskAttributes(task),
      ...(period.attempt !== null && { 'drover.task.attempt': period.attempt }),
      ...(waitKinds.has(period.kind) && { 'drover.wait.kind': period.kind }),
      ...(period.on.length > 0 && { 'drover.wait.on': period.on }),
    },
    error: null,
    links: [],
  };
}

/** `gen_ai.*` as the conventions for generative AI name an agent's invocation. */
function agentSpan(
  task: TaskStory,
  run: RunStory,
  attempt: AttemptStory,
  { hex, traceId, rootId, used }: Sources & Root,
): TraceSpan | null {
  const endMs = attempt.agentEndMs ?? attempt.endMs;
  if (attempt.agentStartMs === null || endMs === null) return null;
  const usage = used.get(`${task.id}/${attempt.number}`);
  const agent = attempt.agent ?? usage?.agent ?? 'unknown';
  const hasFailed = attempt.outcome !== 'completed' && attempt.error !== null;
  return {
    traceId,
    spanId: agentSpanIdOf(hex, run.id, task.id, attempt.number),
    parentId: rootId,
    name: 'drover.agent.execute',
    startMs: attempt.agentStartMs,
    endMs,
    attributes: {
      'drover.task.id': task.id,
      'drover.task.attempt': attempt.number,
      'drover.agent.type': agent,
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': agent,
      ...(usage !== undefined && {
        'gen_ai.usage.input_tokens': usage.input_tokens,
        'gen_ai.usage.output_tokens': usage.output_tokens,
        ...(usage.model !== null && { 'gen_ai.request.model': usage.model }),
      }),
      ...(attempt.failureKind !== null && { 'error.type': attempt.failureKind }),
    },
    error: hasFailed ? attempt.error : null,
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
  run: RunStory,
  ids: ReadonlySet<string>,
  { hex, traceId, rootId }: Sources & Root,
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
    links: gate.taskIds.filter((id) => ids.has(id)).map((id) => taskSpanIdOf(hex, run.id, id)),
  };
}
