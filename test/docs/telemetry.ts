// What the documents on telemetry take from the table of metrics: the list of them, and the Grafana dashboard.

import { metricKinds, type MetricName } from '../../server/core/history/metrics.ts';

export const telemetryMarks = { start: '<!-- metrics:start -->', end: '<!-- metrics:end -->' };

export function withMetrics(page: string): string {
  const from = page.indexOf(telemetryMarks.start) + telemetryMarks.start.length;
  const to = page.indexOf(telemetryMarks.end);
  const rows = metricKinds.map(({ name, kind, labels, help }) => {
    const list = (labels as readonly string[]).map((label) => `\`${label}\``).join(', ');
    return `| \`${name}\` | ${kind} | ${list} | ${help} |`;
  });
  const table = ['| metric | kind | labels | meaning |', '| --- | --- | --- | --- |', ...rows];
  return `${page.slice(0, from)}\n${table.join('\n')}\n${page.slice(to)}`;
}

interface PanelPlan {
  readonly title: string;
  readonly unit: string;
  /** Makes its query; `of` names a metric, so that a query cannot name one that does not exist. */
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

const columns = 3;
const panelWidth = 8;
const panelHeight = 8;

export function dashboardText(): string {
  const datasource = { type: 'prometheus', uid: '${DS_PROMETHEUS}' };
  const dashboard = {
    __inputs: [
      {
        name: 'DS_PROMETHEUS',
        label: 'Prometheus',
        type: 'datasource',
        pluginId: 'prometheus',
        pluginName: 'Prometheus',
      },
    ],
    uid: 'drover-metrics',
    title: 'Drover',
    schemaVersion: 39,
    time: { from: 'now-6h', to: 'now' },
    panels: panels.map((panel, at) => ({
      id: at + 1,
      type: 'timeseries',
      title: panel.title,
      datasource,
      gridPos: {
        x: (at % columns) * panelWidth,
        y: Math.floor(at / columns) * panelHeight,
        w: panelWidth,
        h: panelHeight,
      },
      fieldConfig: { defaults: { unit: panel.unit }, overrides: [] },
      targets: [
        { refId: 'A', datasource, expr: panel.query((name) => name), legendFormat: panel.legend },
      ],
    })),
  };
  return `${JSON.stringify(dashboard, null, 2)}\n`;
}
