// Sends the spans of runs to a collector as they end. A projection of the feed: spans that ended up
// to the stored event were sent, so after a crash exactly the later ones are sent, under their
// permanent ids.

import { otlpTrace } from '../core/history/otlp.ts';
import {
  readDeployment,
  isSampled,
  parseOtlpEndpoint,
  type TelemetrySettings,
} from '../core/settings/telemetry-settings.ts';
import type { EventView } from '../protocol/api.ts';
import { droverVersion } from '../protocol/version.ts';
import { endedSpans } from '../store/history/ended-spans.ts';
import {
  beginExporter,
  moveExporter,
  noteExportError,
  readExporter,
  takeExporter,
  traceExporter,
} from '../store/feed/exporters.ts';
import type { Store } from '../store/port.ts';
import { postWebhook } from '../webhooks/post.ts';
import type { TraceSpan } from '../core/history/trace-span.ts';

export interface ExporterDeps {
  readonly store: Store;
  readonly machineId: string;
  readonly settings: () => TelemetrySettings;
  readonly environment: () => Readonly<Record<string, string | undefined>>;
}

/** Maximum number of spans per request, because collectors refuse bodies of many megabytes. */
const spansPerPost = 512;
const postTimeoutMs = 10_000;
const leaseMs = 60_000;
/** The cursor advances after this many events, which also limits memory. */
const eventsPerPage = 2_000;
const retryMs = [5_000, 15_000, 60_000, 300_000] as const;

export class TraceExporter {
  readonly #deps: ExporterDeps;
  readonly #stop = new AbortController();
  #failures = 0;
  #notBeforeMs = 0;

  constructor(deps: ExporterDeps) {
    this.#deps = deps;
  }

  /**
   * Sends the spans that ended since the last turn. Resolves with the time of the next try after a
   * failure, else null.
   */
  async turn(): Promise<number | null> {
    const { store, settings } = this.#deps;
    for (;;) {
      const nowMs = this.#nowMs();
      if (!settings().enabled || this.#stop.signal.aborted) return null;
      if (nowMs < this.#notBeforeMs) return this.#notBeforeMs;
      if ((await store.feed.lastSeq()) <= (await this.#cursor())) return null;
      if (!(await this.#take(nowMs))) return nowMs + leaseMs;
      const page = await store.feed.read({ after: await this.#cursor(), limit: eventsPerPage });
      const last = page.at(-1);
      if (last === undefined) return null;
      const sent = await this.#sendPage(page);
      if (typeof sent === 'string') return this.#failed(sent);
      this.#failures = 0;
      const sentAtMs = sent > 0 ? this.#nowMs() : null;
      await store.transaction((tx) => moveExporter(tx, traceExporter, last.seq, sentAtMs));
      if (page.length < eventsPerPage) return null;
    }
  }

  /** Sends spans that end from now on. */
  async begin(): Promise<void> {
    const { store } = this.#deps;
    const seq = await store.feed.lastSeq();
    await store.transaction((tx) => beginExporter(tx, traceExporter, seq));
  }

  close(): void {
    this.#stop.abort();
  }

  async #cursor(): Promise<number> {
    const { store } = this.#deps;
    const row = await readExporter(store.db, traceExporter);
    if (row !== null) return row.seq;
    await this.begin();
    return (await readExporter(store.db, traceExporter))?.seq ?? 0;
  }

  /** Returns false if another machine exports. */
  async #take(nowMs: number): Promise<boolean> {
    const { store, machineId } = this.#deps;
    const untilMs = nowMs + leaseMs;
    return store.transaction((tx) =>
      takeExporter(tx, traceExporter, machineId, { nowMs, untilMs }),
    );
  }

  /** The number of sent spans, or why not all were sent. */
  async #sendPage(page: readonly EventView[]): Promise<number | string> {
    const { settings, environment } = this.#deps;
    const deployment = readDeployment(environment());
    const { sampling } = settings();
    let sent = 0;
    for await (const ended of endedSpans(this.#deps.store.db, page)) {
      const spans = ended.filter(({ traceId }) => isSampled(traceId, sampling, deployment));
      const error = await this.#send(spans, deployment);
      if (error !== null) return error;
      sent += spans.length;
    }
    return sent;
  }

  /** Returns null if everything was sent. */
  async #send(spans: readonly TraceSpan[], deployment: string): Promise<string | null> {
    const { settings, environment } = this.#deps;
    const endpoint = parseOtlpEndpoint(settings().endpoint);
    if (endpoint === null)
      return 'telemetry.endpoint must be the URL of a collector, such as "http://host:4318".';
    const headers = otlpHeaders(environment()['OTEL_EXPORTER_OTLP_HEADERS'] ?? '');
    for (let at = 0; at < spans.length; at += spansPerPost) {
      const part = spans.slice(at, at + spansPerPost);
      const body = otlpTrace(part, droverVersion, deployment);
      const error = await this.#post(endpoint.traces, headers, body);
      if (error !== null) return error;
    }
    return null;
  }

  async #post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: unknown,
  ): Promise<string | null> {
    const outcome = await postWebhook({
      url,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      // A collector usually runs on the same machine.
      allowPrivate: true,
      timeoutMs: postTimeoutMs,
      signal: this.#stop.signal,
    });
    if (outcome.kind === 'failed') return `The collector cannot be reached. ${outcome.reason}`;
    const isTaken = outcome.status >= 200 && outcome.status < 300;
    return isTaken ? null : `The collector answered HTTP ${outcome.status}.`;
  }

  async #failed(error: string): Promise<number> {
    const { store } = this.#deps;
    const waitMs = retryMs[Math.min(this.#failures, retryMs.length - 1)] ?? 0;
    this.#failures += 1;
    this.#notBeforeMs = this.#nowMs() + waitMs;
    if (!this.#stop.signal.aborted) {
      await store.transaction((tx) => noteExportError(tx, traceExporter, error, this.#nowMs()));
    }
    return this.#notBeforeMs;
  }

  #nowMs(): number {
    return this.#deps.store.sources.clock.now();
  }
}

/** Parses `name=value,name=value` with percent-encoded values, as in OpenTelemetry's variable. */
export function otlpHeaders(text: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const pair of text.split(',')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, at)).trim();
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(name)) continue;
    const value = pair.slice(at + 1).trim();
    try {
      headers[name] = decodeURIComponent(value);
    } catch {
      headers[name] = value;
    }
  }
  return headers;
}
