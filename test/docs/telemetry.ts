// The generated parts of the documents on telemetry, from the tables of metrics and spans: their
// lists, and the Grafana dashboard of metrics.

import { metricKinds, type MetricName } from '../../server/core/history/metric-kinds.ts';
import { spanAttributes, spanKinds, type SpanWords } from '../../server/core/history/span-kinds.ts';
import { dashboard } from './grafana.ts';

/** The page with the current tables of metrics, spans and attributes. */
export function withTelemetry(page: string): string {
  const spans = between(page, 'spans', tableOf('span', spanKinds));
  const attributes = between(spans, 'attributes', tableOf('attribute', spanAttributes));
  return between(attributes, 'metrics', metricsTable());
}

function between(page: string, name: string, table: readonly string[]): string {
  const start = `<!-- ${name}:start -->`;
  const from = page.indexOf(start) + start.length;
  const to = page.indexOf(`<!-- ${name}:end -->`);
  return `${page.slice(0, from)}\n${table.join('\n')}\n${page.slice(to)}`;
}

function tableOf(title: string, kinds: SpanWords): readonly string[] {
  const rows = Object.entries(kinds).map(([name, help]) => `| \`${name}\` | ${help} |`);
  return [`| ${title} | meaning |`, '| --- | --- |', ...rows];
}

function metricsTable(): readonly string[] {
  const rows = metricKinds.map(({ name, kind, labels, help }) => {
    const list = (labels as readonly string[]).map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${kind} | ${list} | ${help} |`;
  });
  return ['| metric | kind | labels | meaning |', '| --- | --- | --- | --- |', ...rows];
}

interface PanelPlan {
  readonly title: string;
  readonly unit: string;
  /**
   * Creates its query; `of` names a metric, so a query cannot name a metric that does not exist.
   */
  readonly query: (of: (name: MetricName) => string) => string;
  readonly legend: string;
}

const panels: readonly PanelPlan[] = [
  {
    title: 'Running tasks',
    unit: 'short',
    query: (of) => of('drover_tasks_active'),
    legend: 'running',
  },
  {
    title: 'Tasks that have not started',
    unit: 'short',
    query: (of) => of('drover_tasks_pending'),
    legend: '{{state}}',
  },
  {
    title: 'Tasks that wait',
    unit: 'short',
    query: (of) => of('drover_tasks_waiting'),
    legend: '{{state}}',
  },
  {
    title: 'Age of the oldest waiting landing',
    unit: 's',
    query: (of) => of('drover_landing_oldest_seconds'),
    legend: '{{project}}',
  },
  {
    title: 'Open questions',
    unit: 'short',
    query: (of) => of('drover_questions_open'),
    legend: '{{project}}',
  },
  {
    title: 'Completed tasks per hour',
    unit: 'short',
    query: (of) => `increase(${of('drover_tasks_completed_total')}[1h])`,
    legend: 'completed',
  },
  {
    title: 'Failed attempts per hour',
    unit: 'short',
    query: (of) => `increase(${of('drover_tasks_retried_total')}[1h])`,
    legend: '{{error_type}}',
  },
  {
    title: 'Waiting time per hour',
    unit: 's',
    query: (of) => `increase(${of('drover_task_wait_seconds_total')}[1h])`,
    legend: '{{kind}}',
  },
  {
    title: 'Agent duration, 95th percentile',
    unit: 's',
    query: (of) =>
      `histogram_quantile(0.95, sum by (le, agent_type) (rate(${of('drover_agent_duration_seconds')}_bucket[1h])))`,
    legend: '{{agent_type}}',
  },
  {
    title: 'Gate duration, 95th percentile',
    unit: 's',
    query: (of) =>
      `histogram_quantile(0.95, sum by (le) (rate(${of('drover_gate_duration_seconds')}_bucket[1h])))`,
    legend: 'gate',
  },
  {
    title: 'Gate results per hour',
    unit: 'short',
    query: (of) => `increase(${of('drover_gates_total')}[1h])`,
    legend: '{{result}}',
  },
  {
    title: 'Cost per hour',
    unit: 'currencyUSD',
    query: (of) => `increase(${of('drover_agent_cost_usd_total')}[1h])`,
    legend: '{{agent_type}}',
  },
];

export function dashboardText(): string {
  return dashboard({
    source: { variable: 'DS_PROMETHEUS', label: 'Prometheus', type: 'prometheus' },
    uid: 'drover-metrics',
    title: 'Drover',
    panels: panels.map(({ title, unit, query, legend }) => ({
      title,
      unit,
      type: 'timeseries',
      target: { expr: query((name) => name), legendFormat: legend },
    })),
  });
}
