// The configuration of an OpenTelemetry collector (contrib distribution) that writes traces of
// Drover and of agents to ClickHouse.

export const collectorConfig = {
  receivers: {
    otlp: {
      protocols: {
        grpc: { endpoint: '127.0.0.1:4317' },
        http: { endpoint: '127.0.0.1:4318' },
      },
    },
  },
  processors: {
    memory_limiter: { check_interval: '1s', limit_mib: 512 },
  },
  exporters: {
    clickhouse: {
      endpoint: 'tcp://127.0.0.1:9000',
      database: 'otel',
      timeout: '10s',
      sending_queue: {
        enabled: true,
        queue_size: 1_000,
        batch: { sizer: 'items', min_size: 1_000, flush_timeout: '5s' },
      },
      retry_on_failure: { enabled: true, max_elapsed_time: '0s' },
    },
    prometheus: { endpoint: '127.0.0.1:9464' },
  },
  service: {
    pipelines: {
      traces: {
        receivers: ['otlp'],
        processors: ['memory_limiter'],
        exporters: ['clickhouse'],
      },
      logs: {
        receivers: ['otlp'],
        processors: ['memory_limiter'],
        exporters: ['clickhouse'],
      },
      metrics: {
        receivers: ['otlp'],
        processors: ['memory_limiter'],
        exporters: ['prometheus'],
      },
    },
  },
} as const;

const heading = `# An OpenTelemetry collector (contrib distribution). Traces of Drover and of agents, and the events of agents, go to ClickHouse; the
# metrics of agents (\`telemetry.agents\`) to a port that Prometheus reads. Run clickhouse.sql before its first start.
`;

export function collectorText(): string {
  return `${heading}${yaml(collectorConfig, 0)}`;
}

/** Objects, lists of strings and plain values, as block YAML. */
function yaml(value: object, depth: number): string {
  const indent = '  '.repeat(depth);
  return Object.entries(value)
    .map(([key, item]: [string, unknown]) => {
      if (Array.isArray(item)) return `${indent}${key}: [${item.join(', ')}]\n`;
      if (typeof item === 'object' && item !== null) {
        return `${indent}${key}:\n${yaml(item, depth + 1)}`;
      }
      return `${indent}${key}: ${typeof item === 'string' ? `'${item}'` : String(item)}\n`;
    })
    .join('');
}
