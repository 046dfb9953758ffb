// The backend's part in telemetry: wakes the exporter when the feed grows. The exporter is loaded
// only if telemetry is on.

import { setTimeout as wait } from 'node:timers/promises';
import {
  agentTelemetry,
  readDeployment,
  isSampled,
  parseOtlpEndpoint,
  formatTraceparent,
} from '../core/settings/telemetry-settings.ts';
import { agentSpanIdForAttempt, traceIdForRun } from '../core/history/span-ids.ts';
import { hashHex } from '../store/rows/hex-of.ts';
import type { LiveSettings } from '../project/live-settings.ts';
import type { TraceExporter } from './exporter.ts';
import type { Project, Report } from '../project/opened-project.ts';

export interface TelemetryExport {
  readonly close: () => Promise<void>;
}

/** Spans that end within this time are sent together. */
const gatherMs = 3_000;
const lookMs = 60_000;

/** Resolves once spans that end later will be sent. */
export async function exportTelemetry(project: Project, report: Report): Promise<TelemetryExport> {
  const stop = new AbortController();
  let news = Promise.withResolvers<void>();
  let exporter: TraceExporter | null = null;
  const wake = (): void => news.resolve();
  const isOn = (): boolean => project.live.accepted.otel.enabled;
  const isOffered = (): boolean => isOn() || project.live.offered.otel.enabled;
  const begun = async (): Promise<TraceExporter> => {
    if (exporter !== null) return exporter;
    const { TraceExporter: Exporter } = await import('./exporter.ts');
    const made = new Exporter({
      store: project.store,
      machineId: project.machineId,
      settings: () => project.live.accepted.otel,
      environment: () => project.live.environment,
    });
    await made.begin();
    exporter = made;
    return made;
  };
  const take = async (): Promise<number | null> => {
    if (!isOffered()) return null;
    try {
      const begunOne = await begun();
      return isOn() ? await begunOne.turn() : null;
    } catch (error) {
      report(error, 'sending traces');
      return Date.now() + lookMs;
    }
  };
  // Spans that end before a person accepts the collector are sent after that.
  if (isOffered()) await begun().catch((error: unknown) => report(error, 'sending traces'));
  const forgets = [project.store.feed.onAppend(wake), project.live.onAccepted(wake)];
  const over = (async () => {
    while (!stop.signal.aborted) {
      news = Promise.withResolvers<void>();
      const nextMs = await take();
      const { signal } = stop;
      const timer = wait(Math.min(lookMs, nextMs === null ? lookMs : nextMs - Date.now()), null, {
        signal,
      }).catch(() => null);
      // After a failure, new spans do not make the collector available again.
      await (nextMs === null ? Promise.race([news.promise, timer]) : timer);
      await wait(gatherMs, null, { signal }).catch(() => null);
    }
  })();
  return {
    close: async () => {
      for (const forget of forgets) forget();
      stop.abort();
      exporter?.close();
      await over;
    },
  };
}

export interface TracedAttempt {
  readonly runId: string;
  readonly taskId: string;
  readonly attempt: number;
}

/** Variables that make an agent's spans children of Drover's span for it. */
export function telemetryVariables(
  live: Pick<LiveSettings, 'settings' | 'environment'>,
  kind: string,
  of: TracedAttempt | null,
): Record<string, string> {
  const { enabled, endpoint: text, agents, sampling } = live.settings.otel;
  if (!enabled || of === null) return {};
  const { runId, taskId, attempt } = of;
  const spanId = agentSpanIdForAttempt(hashHex, runId, taskId, attempt);
  const traceId = traceIdForRun(hashHex, runId);
  const sampled = isSampled(traceId, sampling, readDeployment(live.environment));
  const endpoint = agents && sampled ? parseOtlpEndpoint(text) : null;
  const headers = live.environment['OTEL_EXPORTER_OTLP_HEADERS'];
  const own = endpoint === null ? {} : agentTelemetry(kind, endpoint);
  return {
    TRACEPARENT: formatTraceparent(traceId, spanId, sampled),
    ...own,
    ...(Object.keys(own).length > 0 && {
      OTEL_RESOURCE_ATTRIBUTES: `drover.workflow.id=${runId},drover.task.id=${taskId},drover.task.attempt=${attempt}`,
    }),
    ...(headers !== undefined &&
      Object.keys(own).length > 0 && { OTEL_EXPORTER_OTLP_HEADERS: headers }),
  };
}
