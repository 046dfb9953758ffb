// Spans as they arrive at a collector: OTLP in JSON, Drover's own and agents' spans.

import type { Received } from '../../doubles/web-receiver.ts';

export interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: unknown }[];
}

export function spansIn(text: string): readonly SentSpan[] {
  const trace = JSON.parse(text) as {
    readonly resourceSpans: readonly {
      readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
    }[];
  };
  return trace.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

export function receivedSpans(posts: readonly Received[]): readonly SentSpan[] {
  return posts.filter(({ path }) => path === '/v1/traces').flatMap(({ body }) => spansIn(body));
}

/** Keyed by id: a span that arrived twice counts once. */
export function byId(spans: readonly SentSpan[]): ReadonlyMap<string, SentSpan> {
  return new Map(spans.map((span) => [`${span.traceId}/${span.spanId}`, span]));
}

export function sorted(spans: Iterable<SentSpan>): readonly SentSpan[] {
  return [...spans].sort((a, b) => a.spanId.localeCompare(b.spanId));
}

/** Unix milliseconds. */
export function startMs(span: SentSpan): number {
  return Number(BigInt(span.startTimeUnixNano) / 1_000_000n);
}

export function endMs(span: SentSpan): number {
  return Number(BigInt(span.endTimeUnixNano) / 1_000_000n);
}

/** Names from the root down to the span. */
export function pathTo(span: SentSpan, all: readonly SentSpan[]): readonly string[] {
  const parent = all.find(({ spanId }) => spanId === span.parentSpanId);
  return [...(parent === undefined ? [] : pathTo(parent, all)), span.name];
}
