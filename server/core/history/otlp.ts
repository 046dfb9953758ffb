// Formats spans as OpenTelemetry JSON (OTLP 1.x), which `drover trace export` prints and collectors
// accept.

import type { TraceSpan, SpanValue } from './trace-span.ts';

export interface OtlpTrace {
  readonly resourceSpans: readonly unknown[];
}

/** `deployment`: the environment that recorded the spans; null if it is no longer known. */
export function otlpTrace(
  spans: readonly TraceSpan[],
  version: string,
  deployment: string | null = null,
): OtlpTrace {
  const resource = {
    'service.name': 'drover',
    'service.version': version,
    ...(deployment !== null && { 'deployment.environment': deployment }),
  };
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: 'drover', version }, spans: spans.map(otlpSpan) }],
      },
    ],
  };
}

const spanKindInternal = 1;
const statusOk = 1;
const statusError = 2;

function otlpSpan(span: TraceSpan): unknown {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parentId !== null && { parentSpanId: span.parentId }),
    name: span.name,
    kind: spanKindInternal,
    startTimeUnixNano: nanosOf(span.startMs),
    endTimeUnixNano: nanosOf(span.endMs),
    attributes: attributesOf(span.attributes),
    ...(span.links.length > 0 && {
      links: span.links.map((spanId) => ({ traceId: span.traceId, spanId })),
    }),
    status: span.error === null ? { code: statusOk } : { code: statusError, message: span.error },
  };
}

/** A string, because a JSON number cannot hold that many digits exactly. */
function nanosOf(ms: number): string {
  return `${Math.round(ms)}000000`;
}

function attributesOf(attributes: Readonly<Record<string, SpanValue>>): readonly unknown[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }));
}

function valueOf(value: SpanValue): unknown {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number') {
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  }
  return { arrayValue: { values: value.map((item) => ({ stringValue: item })) } };
}
