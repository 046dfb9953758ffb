// Settings for telemetry: whether and where traces are sent. Rows of the settings table.

const reader = 'main (telemetry)';

export const telemetrySettingTable = {
  'telemetry.enabled': {
    value: { type: 'boolean' },
    fallback: false,
    env: 'DROVER_OTEL_ENABLED',
    inFile: true,
    doc: 'Send traces of runs to an OpenTelemetry collector.',
    readBy: reader,
  },
  'telemetry.endpoint': {
    value: { type: 'text' },
    fallback: 'localhost:4317',
    env: 'DROVER_OTEL_ENDPOINT',
    inFile: true,
    doc: 'Collector, for example "http://host:4318" (OTLP over HTTP, JSON). The default port is 4318.',
    readBy: reader,
  },
  'telemetry.sampling': {
    value: { type: 'number', min: 0, max: 1 },
    fallback: null,
    env: 'DROVER_OTEL_SAMPLING',
    inFile: true,
    doc: 'Share of the runs whose traces are sent. Default: all, or one in ten if `DROVER_ENV` (else `ENVIRONMENT`) is `production`.',
    readBy: reader,
  },
  'telemetry.agents': {
    value: { type: 'boolean' },
    fallback: false,
    inFile: true,
    doc: "Let Claude Code and Copilot send their own traces to the same collector, nested in Drover's.",
    readBy: reader,
  },
  'telemetry.project': {
    value: { type: 'text' },
    fallback: null,
    inFile: true,
    doc: "The project's name in the label `project` of metrics. Default: the name of the repository's folder.",
    readBy: 'rpc (metrics)',
  },
} as const;

export type TelemetrySettingKey = keyof typeof telemetrySettingTable;

export interface TelemetrySettings {
  readonly enabled: boolean;
  readonly endpoint: string;
  readonly agents: boolean;
  /** Share of runs that are sampled. Null = depends on the environment's name. */
  readonly sampling: number | null;
  /** The `project` label of metrics. Null = the folder's name. */
  readonly project: string | null;
}

export function readTelemetrySettings(get: <T>(key: TelemetrySettingKey) => T): TelemetrySettings {
  return {
    enabled: get('telemetry.enabled'),
    endpoint: get('telemetry.endpoint'),
    agents: get('telemetry.agents'),
    sampling: get('telemetry.sampling'),
    project: get('telemetry.project'),
  };
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment's name in the resource of spans. */
export function readDeployment(environment: Environment): string {
  const named = [environment['DROVER_ENV'], environment['ENVIRONMENT']];
  return named.find((name) => name !== undefined && name !== '') ?? 'development';
}

const productionShare = 0.1;
const idRange = 2 ** 32;

/**
 * Whether the spans of a run are sent. Depends only on the run's trace id, so every process decides
 * alike and a run is sent completely or not at all.
 */
export function isSampled(traceId: string, sampling: number | null, deployment: string): boolean {
  const share = sampling ?? (deployment === 'production' ? productionShare : 1);
  return Number.parseInt(traceId.slice(-8), 16) < share * idRange;
}

export interface OtlpEndpoint {
  /** The value of `OTEL_EXPORTER_OTLP_ENDPOINT` for agents. */
  readonly base: string;
  readonly traces: string;
  /** Says that the port differs from the configured one; null if it does not. */
  readonly note: string | null;
}

const tracesPath = '/v1/traces';

/**
 * Returns null if the text is not a collector's endpoint. Port 4317 without a scheme means gRPC,
 * which Drover does not support.
 */
export function parseOtlpEndpoint(text: string): OtlpEndpoint | null {
  const bare = /^([A-Za-z0-9._-]+|\[[0-9a-fA-F:]+\])(?::([0-9]{1,5}))?$/.exec(text);
  if (bare !== null) {
    const [, host = '', port] = bare;
    const isGrpc = port === undefined || port === '4317';
    const base = `http://${host}:${isGrpc ? '4318' : port}`;
    const note = isGrpc ? `${text} is used as ${base}: Drover sends OTLP over HTTP.` : null;
    return { base, traces: `${base}${tracesPath}`, note };
  }
  if (!/^https?:\/\/[^/?#@\s]+(\/[^?#\s]*)?$/i.test(text)) return null;
  const base = text.replace(/\/+$/, '').replace(/\/v1\/traces$/, '');
  return { base, traces: `${base}${tracesPath}`, note: null };
}

/** Formats the W3C `traceparent` header of a span. */
export function formatTraceparent(traceId: string, spanId: string, sampled: boolean): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** Variables that make an agent send its own telemetry as children of Drover's span. */
export function agentTelemetry(kind: string, endpoint: OtlpEndpoint): Record<string, string> {
  const shared = {
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint.base,
  };
  switch (kind) {
    case 'claude':
      return {
        ...shared,
        CLAUDE_CODE_ENABLE_TELEMETRY: '1',
        CLAUDE_CODE_ENHANCED_TELEMETRY_BETA: '1',
        // Without this, Claude Code drops the parent span if it has a custom base URL.
        CLAUDE_CODE_PROPAGATE_TRACEPARENT: '1',
        OTEL_TRACES_EXPORTER: 'otlp',
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_LOGS_EXPORTER: 'otlp',
      };
    case 'copilot':
      return { ...shared, COPILOT_OTEL_ENABLED: 'true' };
    default:
      return {};
  }
}
