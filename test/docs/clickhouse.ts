// Traces in ClickHouse: the table, and a Grafana dashboard whose queries are type-checked against
// the table of spans.

import type { SpanAttribute, SpanName } from '../../server/core/history/span-kinds.ts';
import { dashboard } from './grafana.ts';

/** The columns that the collector's exporter inserts, by name. */
const columns: Readonly<Record<string, string>> = {
  Timestamp: 'DateTime64(9)',
  TraceId: 'String',
  SpanId: 'String',
  ParentSpanId: 'String',
  TraceState: 'String',
  SpanName: 'LowCardinality(String)',
  SpanKind: 'LowCardinality(String)',
  ServiceName: 'LowCardinality(String)',
  ResourceAttributes: 'Map(LowCardinality(String), String)',
  ScopeName: 'String',
  ScopeVersion: 'String',
  SpanAttributes: 'Map(LowCardinality(String), String)',
  Duration: 'UInt64',
  StatusCode: 'LowCardinality(String)',
  StatusMessage: 'String',
  'Events.Timestamp': 'Array(DateTime64(9))',
  'Events.Name': 'Array(LowCardinality(String))',
  'Events.Attributes': 'Array(Map(LowCardinality(String), String))',
  'Links.TraceId': 'Array(String)',
  'Links.SpanId': 'Array(String)',
  'Links.TraceState': 'Array(String)',
  'Links.Attributes': 'Array(Map(LowCardinality(String), String))',
};

export function clickhouseTableText(): string {
  const lines = Object.entries(columns).map(([name, type]) => `    \`${name}\` ${type},`);
  return [
    "-- The table of traces that the collector's ClickHouse exporter fills. Made before, it stays as it is. A span that",
    '-- arrives twice has the same ids: the longer one stays, so that a run that was resumed is there once. Queries say FINAL.',
    'CREATE DATABASE IF NOT EXISTS otel;',
    '',
    'CREATE TABLE IF NOT EXISTS otel.otel_traces',
    '(',
    ...lines,
    '    INDEX by_trace TraceId TYPE bloom_filter(0.001) GRANULARITY 1',
    ')',
    'ENGINE = ReplacingMergeTree(Duration)',
    'PARTITION BY toYYYYMM(Timestamp)',
    'ORDER BY (ServiceName, SpanName, Timestamp, TraceId, SpanId)',
    'TTL toDateTime(Timestamp) + INTERVAL 90 DAY',
    'SETTINGS index_granularity = 8192;',
    '',
  ].join('\n');
}

interface TracePanel {
  readonly title: string;
  readonly unit: string;
  readonly type: 'timeseries' | 'table';
  /** Values and, for a series, its name, beside the time. */
  readonly select: string;
  readonly span: SpanName | readonly SpanName[];
  readonly group?: string;
  readonly where?: string;
  readonly order?: string;
}

/** The value of an attribute; a name that is not in the table of spans does not compile. */
function attribute(name: SpanAttribute): string {
  return `SpanAttributes['${name}']`;
}

const seconds = 'Duration / 1e9';
const waits = [
  'drover.wait.blocker',
  'drover.wait.slot',
  'drover.wait.retry',
  'drover.wait.quota',
  'drover.wait.person',
] as const satisfies readonly SpanName[];

const panels: readonly TracePanel[] = [
  {
    title: 'Tasks per hour',
    unit: 'short',
    type: 'timeseries',
    span: 'drover.task.execute',
    select: `count() AS tasks, ${attribute('drover.task.state')} AS state`,
    group: 'state',
  },
  {
    title: 'Agent time, 95th percentile',
    unit: 's',
    type: 'timeseries',
    span: 'drover.agent.execute',
    select: `quantile(0.95)(${seconds}) AS seconds, ${attribute('drover.agent.type')} AS agent`,
    group: 'agent',
  },
  {
    title: 'Waiting time',
    unit: 's',
    type: 'timeseries',
    span: waits,
    select: `sum(${seconds}) AS seconds, ${attribute('drover.wait.kind')} AS kind`,
    group: 'kind',
  },
  {
    title: 'Tokens',
    unit: 'short',
    type: 'timeseries',
    span: 'drover.agent.execute',
    select: [
      `sum(toUInt64OrZero(${attribute('gen_ai.usage.input_tokens')})) AS input`,
      `sum(toUInt64OrZero(${attribute('gen_ai.usage.output_tokens')})) AS output`,
    ].join(', '),
  },
  {
    title: 'Gate time, 95th percentile',
    unit: 's',
    type: 'timeseries',
    span: 'drover.gate.run',
    select: `quantile(0.95)(${seconds}) AS seconds, ${attribute('drover.gate.passed')} AS passed`,
    group: 'passed',
  },
  {
    title: 'Failed attempts',
    unit: 'short',
    type: 'timeseries',
    span: 'drover.agent.execute',
    where: "StatusCode = 'Error'",
    select: `count() AS attempts, ${attribute('error.type')} AS kind`,
    group: 'kind',
  },
  {
    title: 'Longest tasks',
    unit: 's',
    type: 'table',
    span: 'drover.task.execute',
    select: [
      `${attribute('drover.task.id')} AS task`,
      `${attribute('drover.task.title')} AS title`,
      `${attribute('drover.epic.id')} AS epic`,
      `${seconds} AS seconds`,
      'TraceId',
    ].join(', '),
    order: 'seconds DESC',
  },
  {
    title: 'Runs',
    unit: 's',
    type: 'table',
    span: 'drover.workflow.run',
    select: [
      'Timestamp',
      `${attribute('drover.workflow.id')} AS run`,
      `${attribute('drover.workflow.state')} AS state`,
      `${seconds} AS seconds`,
      'TraceId',
    ].join(', '),
    order: 'Timestamp DESC',
  },
];

/** `$__timeFilter` is the macro of Grafana's ClickHouse data source. */
export function traceQueryOf({ type, span, select, where, group, order }: TracePanel): string {
  const spans = typeof span === 'string' ? [span] : span;
  const names = spans.map((name) => `'${name}'`).join(', ');
  const isSeries = type === 'timeseries';
  return [
    `SELECT ${isSeries ? 'toStartOfHour(Timestamp) AS time, ' : ''}${select}`,
    'FROM otel.otel_traces FINAL',
    `WHERE $__timeFilter(Timestamp) AND ServiceName = 'drover' AND SpanName IN (${names})`,
    ...(where === undefined ? [] : [`AND ${where}`]),
    ...(isSeries
      ? [
          `GROUP BY ${['time', group].filter((part) => part !== undefined).join(', ')}`,
          'ORDER BY time',
        ]
      : [`ORDER BY ${order}`, 'LIMIT 100']),
  ].join(' ');
}

export function traceDashboardText(): string {
  return dashboard({
    source: {
      variable: 'DS_CLICKHOUSE',
      label: 'ClickHouse',
      type: 'grafana-clickhouse-datasource',
    },
    uid: 'drover-traces',
    title: 'Drover traces',
    panels: panels.map((panel) => ({
      title: panel.title,
      unit: panel.unit,
      type: panel.type,
      target: {
        editorType: 'sql',
        // 0 is a time series, and 1 is a table.
        format: panel.type === 'timeseries' ? 0 : 1,
        queryType: panel.type,
        rawSql: traceQueryOf(panel),
      },
    })),
  });
}
