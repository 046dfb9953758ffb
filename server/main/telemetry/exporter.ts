// Sends the spans of runs to a collector as they end. A projection of the feed: what had ended at the stored event has been
// sent, so after a death the spans that are sent are exactly those that ended since, under the ids that they always have.

import { otlpTrace } from '../../core/history/otlp.ts';
import type { TraceSpan } from '../../core/history/spans.ts';
import type { StoryTeller } from '../../core/history/stories.ts';
import { otlpEndpointOf, type TelemetrySettings } from '../../core/telemetry-settings.ts';
import { droverVersion } from '../../protocol/version.ts';
import {
  beginExporter,
  moveExporter,
  noteExportError,
  readExporter,
  takeExporter,
  traceExporter,
} from '../../store/exporters.ts';
import type { Store } from '../../store/port.ts';
import { readRunSpans, readStories } from '../../store/read-history.ts';

export interface ExporterDeps {
  readonly store: Store;
  readonly machineId: string;
  readonly settings: () => TelemetrySettings;
  readonly environment: () => Readonly<Record<string, string | undefined>>;
}

/** Spans of one request; a collector refuses bodies of many megabytes. */
const spansPerPost = 512;
const postTimeoutMs = 10_000;
const leaseMs = 60_000;
const eventsPerPage = 2_000;
/** Runs whose spans may still end: a task of an earlier one can wait for a person for long. */
const openRunsMax = 50;
const retryMs = [5_000, 15_000, 60_000, 300_000] as const;

export class TraceExporter {
  readonly #deps: ExporterDeps;
  readonly #stop = new AbortController();
  #stories: StoryTeller | null = null;
  #sent = new Set<string>();
  #failures = 0;
  #notBeforeMs = 0;

  constructor(deps: ExporterDeps) {
    this.#deps = deps;
  }

  /** Sends what has ended since the last turn. Resolves with the time of the next try after a failure, else null. */
  async turn(): Promise<number | null> {
    const { store, machineId, settings } = this.#deps;
    const nowMs = this.#nowMs();
    if (!settings().enabled || this.#stop.signal.aborted) return null;
    if (nowMs < this.#notBeforeMs) return this.#notBeforeMs;
    if ((await readExporter(store.db, traceExporter)) === null) await this.begin();
    const untilMs = nowMs + leaseMs;
    const isOurs = await store.transaction((tx) =>
      takeExporter(tx, traceExporter, machineId, { nowMs, untilMs }),
    );
    if (!isOurs) {
      this.#stories = null;
      return nowMs + leaseMs;
    }
    const stories = this.#stories ?? (await this.#catchUp());
    this.#stories = stories;
    await readOn(store, stories);
    const spans = await this.#endedSpans(stories);
    const fresh = spans.filter((span) => !this.#sent.has(keyOf(span)));
    const error = await this.#send(fresh);
    if (error !== null) return this.#failed(error);
    this.#failures = 0;
    // Only those of runs that are still looked at: the set stays as small as they are.
    this.#sent = new Set(spans.map(keyOf));
    await store.transaction((tx) =>
      moveExporter(tx, traceExporter, stories.seq, fresh.length > 0 ? this.#nowMs() : null),
    );
    return null;
  }

  /** What ends from now on is sent. */
  async begin(): Promise<void> {
    const { store } = this.#deps;
    const seq = await store.feed.lastSeq();
    await store.transaction((tx) => beginExporter(tx, traceExporter, seq));
  }

  close(): void {
    this.#stop.abort();
  }

  /** The stories as they were at the stored event, whose spans count as sent. */
  async #catchUp(): Promise<StoryTeller> {
    const { store } = this.#deps;
    const row = await readExporter(store.db, traceExporter);
    const stories = await readStories(store.db, row?.seq ?? 0);
    this.#sent = new Set((await this.#endedSpans(stories)).map(keyOf));
    return stories;
  }

  async #endedSpans(stories: StoryTeller): Promise<readonly TraceSpan[]> {
    const runIds = [...stories.runs.keys()].slice(-openRunsMax);
    return readRunSpans(this.#deps.store.db, stories, runIds);
  }

  /** Null: all has arrived. */
  async #send(spans: readonly TraceSpan[]): Promise<string | null> {
    const { settings, environment } = this.#deps;
    const endpoint = otlpEndpointOf(settings().endpoint);
    if (endpoint === null) return 'telemetry.endpoint is not a collector as "http://host:4318".';
    const headers = otlpHeaders(environment()['OTEL_EXPORTER_OTLP_HEADERS'] ?? '');
    for (let at = 0; at < spans.length; at += spansPerPost) {
      const part = spans.slice(at, at + spansPerPost);
      const error = await this.#post(endpoint.traces, headers, otlpTrace(part, droverVersion));
      if (error !== null) return error;
      for (const span of part) this.#sent.add(keyOf(span));
    }
    return null;
  }

  async #post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: unknown,
  ): Promise<string | null> {
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        redirect: 'error',
        signal: AbortSignal.any([this.#stop.signal, AbortSignal.timeout(postTimeoutMs)]),
      });
      await answer.body?.cancel();
      return answer.ok ? null : `The collector answered HTTP ${answer.status}.`;
    } catch (error) {
      return `The collector cannot be reached (${causeOf(error)}).`;
    }
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

async function readOn(store: Store, stories: StoryTeller): Promise<void> {
  for (;;) {
    const page = await store.feed.read({ after: stories.seq, limit: eventsPerPage });
    for (const event of page) stories.take(event);
    if (page.length < eventsPerPage) return;
  }
}

/** A span that ends once more (its run was resumed) is sent once more, under the same id. */
function keyOf({ traceId, spanId, endMs }: TraceSpan): string {
  return `${traceId}/${spanId}/${endMs}`;
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = (error.cause ?? error) as NodeJS.ErrnoException;
  return code ?? error.name;
}

/** `name=value,name=value`, values percent-encoded, as OpenTelemetry's variable has it. */
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
