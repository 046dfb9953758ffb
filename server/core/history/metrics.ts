// Computes counters, gauges and histograms from stories, in the Prometheus text format. No label
// names a task, because the number of series would grow without bound.

import { failureKinds } from '../failure.ts';
import { agentKinds } from '../plan/task.ts';
import { type MetricKind, metricKinds, type MetricName } from './metric-kinds.ts';
import { waitKinds } from './report.ts';
import type { Stories } from './stories.ts';
import type { TaskStory } from './task-story.ts';

type Labels = Readonly<Record<string, string>>;

/** Seconds, from a fast test suite to a day. */
const buckets = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400, 86_400];

interface Series {
  value: number;
  count: number;
  readonly counts: number[];
}

export interface MetricsUsage {
  readonly agent: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost_usd: number;
}

class Registry {
  readonly #series = new Map<MetricName, Map<string, Series>>();

  of(name: MetricName, labels: Labels): Series {
    const own = this.#series.get(name) ?? new Map<string, Series>();
    this.#series.set(name, own);
    const key = labelText(labels);
    const known = own.get(key) ?? { value: 0, count: 0, counts: buckets.map(() => 0) };
    own.set(key, known);
    return known;
  }

  add(name: MetricName, labels: Labels = {}, amount = 1): void {
    this.of(name, labels).value += amount;
  }

  observe(name: MetricName, seconds: number, labels: Labels = {}): void {
    const series = this.of(name, labels);
    series.value += seconds;
    series.count += 1;
    for (const [at, bound] of buckets.entries()) {
      if (seconds <= bound) series.counts[at] = (series.counts[at] ?? 0) + 1;
    }
  }

  /** Values by series (name and labels). */
  samples(name: MetricName, kind: MetricKind['kind']): Map<string, number> {
    const samples = new Map<string, number>();
    for (const [labels, series] of this.#series.get(name) ?? []) {
      if (kind === 'histogram') addHistogram(samples, name, labels, series);
      else samples.set(`${name}${braced(labels)}`, series.value);
    }
    return samples;
  }

  text(carried: ReadonlyMap<string, number>, shared: Labels): string {
    const project = labelText(shared);
    const lines: string[] = [];
    for (const { name, kind, help } of metricKinds) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`);
      const samples = this.samples(name, kind);
      for (const [series, value] of carried) {
        if (metricOf(series, kind) === name)
          samples.set(series, (samples.get(series) ?? 0) + value);
      }
      for (const [series, value] of samples) {
        lines.push(`${withLabels(series, project)} ${value}`);
      }
    }
    return `${lines.join('\n')}\n`;
  }

  /** All values that only increase. */
  counted(): Map<string, number> {
    const found = new Map<string, number>();
    for (const { name, kind } of metricKinds) {
      if (kind === 'gauge') continue;
      for (const [series, value] of this.samples(name, kind))
        if (value > 0) found.set(series, value);
    }
    return found;
  }
}

/** The metric that a series belongs to. */
function metricOf(series: string, kind: MetricKind['kind']): string {
  const name = series.split('{', 1)[0] ?? '';
  return kind === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name;
}

function addHistogram(
  samples: Map<string, number>,
  name: string,
  labels: string,
  series: Series,
): void {
  const withBound = (bound: string): string =>
    braced([labels, `le="${bound}"`].filter((part) => part !== '').join(','));
  for (const [at, bound] of buckets.entries()) {
    samples.set(`${name}_bucket${withBound(String(bound))}`, series.counts[at] ?? 0);
  }
  samples.set(`${name}_bucket${withBound('+Inf')}`, series.count);
  samples.set(`${name}_sum${braced(labels)}`, series.value);
  samples.set(`${name}_count${braced(labels)}`, series.count);
}

/** Inserts the shared labels before the series' own. */
function withLabels(series: string, shared: string): string {
  const at = series.indexOf('{');
  return at === -1
    ? `${series}{${shared}}`
    : `${series.slice(0, at)}{${shared},${series.slice(at + 1)}`;
}

function braced(labels: string): string {
  return labels === '' ? '' : `{${labels}}`;
}

function labelText(labels: Labels): string {
  const escaped = (value: string): string =>
    value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',');
}

export const waitingStates = ['failed', 'needs_review', 'conflict', 'paused', 'blocked'] as const;
export type WaitingState = (typeof waitingStates)[number];

/** Current waits, read from the tables. They are complete even after old events were removed. */
export interface MetricsBoard {
  readonly waiting: { readonly [S in WaitingState]: number };
  readonly stuck: number;
  readonly questions: number;
  readonly landings: number;
  readonly oldestLandingMs: number;
  readonly runs: number;
  /** Null if there is no fleet. */
  readonly fleet: MetricsFleet | null;
}

export interface MetricsFleet {
  readonly dead: number;
  readonly alive: readonly { readonly name: string; readonly isRemoteAway: boolean }[];
}

export interface MetricsFacts {
  /** Distinguishes the series of several projects on one host. */
  readonly project: string;
  readonly usage: readonly MetricsUsage[];
  /** Seconds by kind, counted only while runs were active. */
  readonly waits: Readonly<Record<string, number>>;
  /** Counts of events that have been removed. */
  readonly carried: ReadonlyMap<string, number>;
  readonly board: MetricsBoard;
}

export function prometheusText(stories: Stories, facts: MetricsFacts): string {
  const registry = new Registry();
  startAtZero(registry);
  countStories(registry, stories, facts.waits);
  for (const { agent, input_tokens: input, output_tokens: output, cost_usd: usd } of facts.usage) {
    registry.add('drover_agent_tokens_total', { agent_type: agent, token_type: 'input' }, input);
    registry.add('drover_agent_tokens_total', { agent_type: agent, token_type: 'output' }, output);
    registry.add('drover_agent_cost_usd_total', { agent_type: agent }, usd);
  }
  addBoard(registry, facts.board);
  return registry.text(facts.carried, { project: facts.project });
}

/**
 * Adds a zero for each series, because `increase()` misses the first event of a series that did not
 * exist before.
 */
function startAtZero(registry: Registry): void {
  for (const name of [
    'drover_tasks_completed_total',
    'drover_blockers_detected_total',
    'drover_tasks_active',
    'drover_workers_active',
    'drover_task_duration_seconds',
    'drover_worktree_setup_seconds',
    'drover_gate_duration_seconds',
  ] as const) {
    registry.add(name, {}, 0);
  }
  for (const agent of agentKinds) {
    registry.add('drover_tasks_claimed_total', { agent_type: agent }, 0);
    registry.add('drover_agent_cost_usd_total', { agent_type: agent }, 0);
    for (const token of ['input', 'output']) {
      registry.add('drover_agent_tokens_total', { agent_type: agent, token_type: token }, 0);
    }
  }
  for (const error of failureKinds) {
    registry.add('drover_tasks_failed_total', { error_type: error }, 0);
    registry.add('drover_tasks_retried_total', { error_type: error }, 0);
  }
  for (const result of ['passed', 'failed']) registry.add('drover_gates_total', { result }, 0);
  for (const kind of waitKinds) registry.add('drover_task_wait_seconds_total', { kind }, 0);
  for (const state of ['ready', 'blocked']) registry.add('drover_tasks_pending', { state }, 0);
}

function addBoard(registry: Registry, board: MetricsBoard): void {
  for (const state of waitingStates) {
    registry.add('drover_tasks_waiting', { state }, board.waiting[state]);
  }
  registry.add('drover_tasks_stuck', {}, board.stuck);
  registry.add('drover_questions_open', {}, board.questions);
  registry.add('drover_landings_waiting', {}, board.landings);
  registry.add('drover_landing_oldest_seconds', {}, board.oldestLandingMs / 1_000);
  registry.add('drover_runs_active', {}, board.runs);
  if (board.fleet === null) return;
  const { alive, dead } = board.fleet;
  registry.add('drover_machines_alive', {}, alive.length);
  registry.add('drover_machines_dead', {}, dead);
  for (const { name, isRemoteAway } of alive) {
    registry.add('drover_remote_away', { machine: name }, isRemoteAway ? 1 : 0);
  }
}

/** Returns how much these stories contribute to the counters, by series. */
export function storyCounters(
  stories: Pick<Stories, 'tasks' | 'gates'>,
  waits: Readonly<Record<string, number>>,
): ReadonlyMap<string, number> {
  const registry = new Registry();
  countStories(registry, stories, waits);
  return registry.counted();
}

function countStories(
  registry: Registry,
  stories: Pick<Stories, 'tasks' | 'gates'>,
  waits: Readonly<Record<string, number>>,
): void {
  for (const task of stories.tasks.values()) if (task.parentId === null) countTask(registry, task);
  for (const gate of stories.gates) {
    registry.add('drover_gates_total', { result: gate.isGreen ? 'passed' : 'failed' });
    registry.observe('drover_gate_duration_seconds', (gate.endMs - gate.startMs) / 1_000);
  }
  for (const [kind, seconds] of Object.entries(waits)) {
    if (seconds > 0) registry.add('drover_task_wait_seconds_total', { kind }, seconds);
  }
}

function countTask(registry: Registry, task: TaskStory): void {
  const { attempts, status, periods } = task;
  for (const attempt of attempts) {
    const agent = { agent_type: attempt.agent ?? 'unknown' };
    registry.add('drover_tasks_claimed_total', agent);
    if (attempt.outcome === 'ready' && attempt.failureKind !== null) {
      registry.add('drover_tasks_retried_total', { error_type: attempt.failureKind });
    }
    const { agentStartMs: startMs, agentEndMs: endMs } = attempt;
    if (startMs === null) continue;
    registry.observe('drover_worktree_setup_seconds', (startMs - attempt.startMs) / 1_000);
    if (endMs !== null) {
      registry.observe('drover_agent_duration_seconds', (endMs - startMs) / 1_000, agent);
    }
  }
  const blocked = periods.filter((period) => period.kind === 'blocked').length;
  if (blocked > 0) registry.add('drover_blockers_detected_total', {}, blocked);
  const [first] = attempts;
  if (status === 'completed') registry.add('drover_tasks_completed_total');
  if (status === 'completed' && first !== undefined && task.landedMs !== null) {
    registry.observe('drover_task_duration_seconds', (task.landedMs - first.startMs) / 1_000);
  }
  if (status === 'failed') {
    registry.add('drover_tasks_failed_total', {
      error_type: attempts.at(-1)?.failureKind ?? 'unknown',
    });
  }
  if (status === 'claimed' || status === 'in_progress') registry.add('drover_tasks_active');
  if (status === 'ready' || status === 'blocked') {
    registry.add('drover_tasks_pending', { state: status });
  }
  if (periods.some((period) => period.kind === 'agent' && period.endMs === null)) {
    registry.add('drover_workers_active');
  }
}
