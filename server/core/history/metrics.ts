// Counters, gauges and histograms from the stories, and how Prometheus reads them. No label names a
// task: its series would never end.

import type { Stories } from './stories.ts';
import type { TaskStory } from './task-story.ts';

export interface MetricKind {
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
}

/** The one table: values, dashboards and the page of the docs are made from it. */
export const metricKinds = [
  {
    name: 'drover_tasks_claimed_total',
    kind: 'counter',
    help: 'Attempts that were started.',
    labels: ['agent_type'],
  },
  {
    name: 'drover_tasks_completed_total',
    kind: 'counter',
    help: 'Tasks that are completed.',
    labels: [],
  },
  {
    name: 'drover_tasks_failed_total',
    kind: 'counter',
    help: 'Tasks that failed.',
    labels: ['error_type'],
  },
  {
    name: 'drover_tasks_retried_total',
    kind: 'counter',
    help: 'Attempts that failed and led to another attempt.',
    labels: ['error_type'],
  },
  {
    name: 'drover_blockers_detected_total',
    kind: 'counter',
    help: 'Times that a task started to wait for a blocker.',
    labels: [],
  },
  { name: 'drover_gates_total', kind: 'counter', help: 'Runs of the gate.', labels: ['result'] },
  {
    name: 'drover_agent_tokens_total',
    kind: 'counter',
    help: 'Tokens that agents used.',
    labels: ['agent_type', 'token_type'],
  },
  {
    name: 'drover_agent_cost_usd_total',
    kind: 'counter',
    help: 'Estimated cost of agents in US dollars.',
    labels: ['agent_type'],
  },
  {
    name: 'drover_task_wait_seconds_total',
    kind: 'counter',
    help: 'Time that tasks waited while a run was active.',
    labels: ['kind'],
  },
  { name: 'drover_tasks_active', kind: 'gauge', help: 'Tasks with a running attempt.', labels: [] },
  {
    name: 'drover_tasks_pending',
    kind: 'gauge',
    help: 'Tasks that are ready or blocked.',
    labels: ['state'],
  },
  { name: 'drover_workers_active', kind: 'gauge', help: 'Agents that are running.', labels: [] },
  {
    name: 'drover_task_duration_seconds',
    kind: 'histogram',
    help: 'Time of a completed task from its first claim to its landing.',
    labels: [],
  },
  {
    name: 'drover_agent_duration_seconds',
    kind: 'histogram',
    help: 'Time of one attempt of an agent.',
    labels: ['agent_type'],
  },
  {
    name: 'drover_worktree_setup_seconds',
    kind: 'histogram',
    help: 'Time from a claim to the start of the agent.',
    labels: [],
  },
  {
    name: 'drover_gate_duration_seconds',
    kind: 'histogram',
    help: 'Time of one run of the gate.',
    labels: [],
  },
] as const satisfies readonly MetricKind[];

export type MetricName = (typeof metricKinds)[number]['name'];

type Labels = Readonly<Record<string, string>>;

/** Seconds; from a fast test suite to a day. */
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

  /** Each line's value by its name and labels. */
  samples(name: MetricName, kind: MetricKind['kind']): Map<string, number> {
    const samples = new Map<string, number>();
    for (const [labels, series] of this.#series.get(name) ?? []) {
      if (kind === 'histogram') addHistogram(samples, name, labels, series);
      else samples.set(`${name}${braced(labels)}`, series.value);
    }
    return samples;
  }

  text(carried: ReadonlyMap<string, number>): string {
    const lines: string[] = [];
    for (const { name, kind, help } of metricKinds) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`);
      const samples = this.samples(name, kind);
      for (const [series, value] of carried) {
        if (metricOf(series, kind) === name)
          samples.set(series, (samples.get(series) ?? 0) + value);
      }
      for (const [series, value] of samples) lines.push(`${series} ${value}`);
    }
    return `${lines.join('\n')}\n`;
  }

  /** All values that only grow. */
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

/** The metric that a line belongs to. */
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

/**
 * `waits`: seconds by kind, clipped to the times in which runs were active. `carried`: what is
 * counted of events that were removed.
 */
export function prometheusText(
  stories: Stories,
  usage: readonly MetricsUsage[],
  waits: Readonly<Record<string, number>>,
  carried: ReadonlyMap<string, number> = new Map(),
): string {
  const registry = new Registry();
  for (const name of [
    'drover_tasks_completed_total',
    'drover_tasks_active',
    'drover_workers_active',
  ] as const)
    registry.add(name, {}, 0);
  for (const state of ['ready', 'blocked']) registry.add('drover_tasks_pending', { state }, 0);
  countStories(registry, stories, waits);
  for (const { agent, input_tokens: input, output_tokens: output, cost_usd: usd } of usage) {
    registry.add('drover_agent_tokens_total', { agent_type: agent, token_type: 'input' }, input);
    registry.add('drover_agent_tokens_total', { agent_type: agent, token_type: 'output' }, output);
    registry.add('drover_agent_cost_usd_total', { agent_type: agent }, usd);
  }
  return registry.text(carried);
}

/** What the counters owe to these stories: each line's value by its name and labels. */
export function countedOf(
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
