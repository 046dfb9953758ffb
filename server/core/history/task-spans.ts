// Builds the spans of one task in one run: the task, its waits and its agents. Pure.

import { waitKinds } from './report.ts';
import { agentSpanIdForAttempt, spanIdForTask } from './span-ids.ts';
import type { SpanName } from './span-kinds.ts';
import type { AgentTurn, AttemptStory, Period, PeriodKind, TaskStory } from './task-story.ts';
import type { RunSource, SpanAttributes, SpanUsage, TraceSpan } from './trace-span.ts';

const periodNames: { readonly [K in PeriodKind]: SpanName } = {
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

/** Names from the OpenTelemetry conventions. It is unknown whose model other agents call. */
const providers: Readonly<Record<string, string>> = {
  claude: 'anthropic',
  codex: 'openai',
  gemini: 'gcp.gemini',
};

export function taskSpans(task: TaskStory, source: RunSource): TraceSpan[] {
  const periods = task.periods.flatMap((period) => clipped(period, source));
  const own = taskSpan(task, periods, source);
  const waits = periods
    .filter((period) => period.kind !== 'agent' && period.endMs !== null)
    .map((period) => periodSpan(task, period, source));
  const agents = task.attempts.flatMap((attempt) => agentSpan(task, attempt, source) ?? []);
  return [...(own === null ? [] : [own]), ...waits, ...agents];
}

/** Clips the period to the active times of the run. */
function clipped(period: Period, { run, windows }: RunSource): Period[] {
  return windows.flatMap(({ startMs, endMs }, at) => {
    const isOpen = !run.isOver && at === windows.length - 1;
    const from = Math.max(startMs, period.startMs);
    if (period.endMs === null) {
      if (isOpen) return [{ ...period, startMs: from }];
      return from < endMs ? [{ ...period, startMs: from, endMs }] : [];
    }
    const to = isOpen ? period.endMs : Math.min(endMs, period.endMs);
    return to > from ? [{ ...period, startMs: from, endMs: to }] : [];
  });
}

/** Returns null if the task can still continue in this run. */
function taskSpan(
  task: TaskStory,
  periods: readonly Period[],
  { run, hex, traceId, rootId }: RunSource,
): TraceSpan | null {
  const [first] = periods;
  if (first === undefined || (task.status !== 'completed' && !run.isOver)) return null;
  const lastAttempt = task.attempts.at(-1);
  return {
    traceId,
    spanId: spanIdForTask(hex, run.id, task.id),
    parentId: rootId,
    name: 'drover.task.execute',
    startMs: Math.min(...periods.map((period) => period.startMs)),
    endMs: Math.max(...periods.map((period) => period.endMs ?? 0)),
    attributes: {
      ...taskAttributes(task),
      'drover.task.state': task.status,
      'drover.task.attempt': lastAttempt?.number ?? 0,
    },
    error: task.status === 'failed' ? (lastAttempt?.error ?? 'failed') : null,
    links: [],
  };
}

function taskAttributes(task: TaskStory): SpanAttributes {
  return {
    'drover.task.id': task.id,
    'drover.task.title': task.title,
    ...(task.epicId !== null && { 'drover.epic.id': task.epicId }),
  };
}

function periodSpan(task: TaskStory, period: Period, { run, hex, traceId }: RunSource): TraceSpan {
  const [blocker] = period.kind === 'blocked' ? period.on : [];
  return {
    traceId,
    spanId: hex(`${period.kind}/${run.id}/${task.id}/${period.startMs}`, 16),
    parentId: spanIdForTask(hex, run.id, task.id),
    name: periodNames[period.kind],
    startMs: period.startMs,
    endMs: period.endMs ?? period.startMs,
    attributes: {
      ...taskAttributes(task),
      ...(period.attempt !== null && { 'drover.task.attempt': period.attempt }),
      ...(waitKinds.has(period.kind) && { 'drover.wait.kind': period.kind }),
      ...(period.on.length > 0 && { 'drover.wait.on': period.on }),
      ...(blocker !== undefined && { 'drover.blocker.task_id': blocker }),
    },
    error: null,
    links: [],
  };
}

/** Returns null if the attempt did not run in this run or can still continue. */
function agentSpan(task: TaskStory, attempt: AttemptStory, source: RunSource): TraceSpan | null {
  const { run, hex, traceId } = source;
  const turns = attempt.turns.filter((turn) => turn.runId === run.id);
  const [first] = turns;
  const last = turns.at(-1);
  if (first === undefined || last === undefined || last.endMs === null) return null;
  if (!isAgentOver(task, attempt, last, source)) return null;
  const hasFailed =
    last.outcome === null
      ? attempt.outcome !== 'completed' && attempt.error !== null
      : last.outcome !== 'done';
  return {
    traceId,
    spanId: agentSpanIdForAttempt(hex, run.id, task.id, attempt.number),
    parentId: spanIdForTask(hex, run.id, task.id),
    name: 'drover.agent.execute',
    startMs: first.startMs,
    endMs: last.endMs,
    attributes: {
      ...taskAttributes(task),
      'drover.task.attempt': attempt.number,
      'drover.worker.id': `${run.id}/${task.id}`,
      ...agentAttributes(attempt, source.used.get(`${task.id}/${attempt.number}`)),
      ...(hasFailed && attempt.failureKind !== null && { 'error.type': attempt.failureKind }),
    },
    error: hasFailed ? (attempt.error ?? last.outcome) : null,
    links: [],
  };
}

/** An attempt that waits for quota continues under the same number. */
function isAgentOver(
  task: TaskStory,
  attempt: AttemptStory,
  last: AgentTurn,
  { run }: RunSource,
): boolean {
  if (last.outcome === 'done' || run.isOver || attempt.lastRunId !== run.id) return true;
  if (attempt !== task.attempts.at(-1)) return true;
  return attempt.endMs !== null && !attempt.isParked;
}

/**
 * `gen_ai.*` attributes of an agent invocation, as in the conventions for generative AI (v0.1.0).
 */
function agentAttributes(attempt: AttemptStory, usage: SpanUsage | undefined): SpanAttributes {
  const agent = attempt.agent ?? usage?.agent ?? 'unknown';
  const provider = providers[agent];
  const model = usage?.model ?? null;
  const conversation = usage?.conversation ?? null;
  return {
    'drover.agent.type': agent,
    ...(model !== null && { 'drover.agent.model': model }),
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': agent,
    ...(provider !== undefined && { 'gen_ai.provider.name': provider }),
    ...(model !== null && { 'gen_ai.request.model': model }),
    ...(conversation !== null && { 'gen_ai.conversation.id': conversation }),
    ...(usage !== undefined && {
      'gen_ai.usage.input_tokens': usage.input_tokens,
      'gen_ai.usage.output_tokens': usage.output_tokens,
    }),
  };
}
