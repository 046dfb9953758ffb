// The backend's part of webhooks: it wakes the deliverer when the feed grows and when a delivery is
// due. The deliverer itself is loaded once there is an endpoint.

import { setTimeout as wait } from 'node:timers/promises';
import type { TurnEnd, WebhookDeliverer } from './deliverer.ts';
import type { Project, Report } from '../project/opened-project.ts';

export interface WebhookDelivery {
  /** Something may be due now. */
  readonly wake: () => void;
  /** True while a delivery is being sent or is due soon: the backend stays for it. */
  readonly isBusy: () => boolean;
  readonly close: () => Promise<void>;
}

/**
 * The backend does not end while a delivery is due within this time; what is due later is sent by
 * the next one.
 */
const soonMs = 10 * 60_000;
/**
 * A wake-up may be missed (settings change, other machines send): the outbox is looked at this
 * often at least.
 */
const lookMs = 60_000;
/** News of one moment are taken together. */
const gatherMs = 50;

export async function makeDeliverer(
  project: Pick<Project, 'store' | 'machineId' | 'live'>,
): Promise<WebhookDeliverer> {
  const deliverer = await import('./deliverer.ts');
  return new deliverer.WebhookDeliverer({
    store: project.store,
    machineId: project.machineId,
    settings: () => project.live.settings.webhooks,
    environment: () => project.live.environment,
    chance: Math.random,
  });
}

/** Resolves once endpoints that are set hear of what happens from now on. */
export async function deliverWebhooks(project: Project, report: Report): Promise<WebhookDelivery> {
  const stop = new AbortController();
  let news = Promise.withResolvers<void>();
  let isSending = false;
  let next: TurnEnd = { nextMs: null, nextHopefulMs: null };
  let deliverer: WebhookDeliverer | null = null;
  const wake = (): void => news.resolve();
  const hasEndpoints = (): boolean => {
    const { enabled, endpoints } = project.live.settings.webhooks;
    return enabled && endpoints.length > 0;
  };
  const begun = async (): Promise<WebhookDeliverer> => {
    if (deliverer !== null) return deliverer;
    const made = await makeDeliverer(project);
    await made.begin();
    deliverer = made;
    return made;
  };
  const take = async (): Promise<void> => {
    try {
      next = await (await begun()).turn();
    } catch (error) {
      report(error, 'sending webhooks');
    }
  };
  if (hasEndpoints()) await begun().catch((error: unknown) => report(error, 'sending webhooks'));
  const forget = project.store.feed.onAppend(wake);
  const over = (async () => {
    while (!stop.signal.aborted) {
      news = Promise.withResolvers<void>();
      if (hasEndpoints()) {
        isSending = true;
        await take();
        isSending = false;
      }
      const dueInMs = next.nextMs === null ? lookMs : next.nextMs - Date.now();
      await untilNews(news.promise, Math.min(lookMs, Math.max(dueInMs, gatherMs)), stop.signal);
    }
  })();
  return {
    wake,
    isBusy: () =>
      isSending || (next.nextHopefulMs !== null && next.nextHopefulMs - Date.now() < soonMs),
    close: async () => {
      forget();
      stop.abort();
      wake();
      await deliverer?.close();
      await over;
    },
  };
}

async function untilNews(news: Promise<void>, timeMs: number, signal: AbortSignal): Promise<void> {
  const timer = new AbortController();
  const ended = AbortSignal.any([timer.signal, signal]);
  const timedOut = wait(timeMs, undefined, { signal: ended }).catch(() => undefined);
  const told = news.then(() => wait(gatherMs, undefined, { signal }).catch(() => undefined));
  await Promise.race([timedOut, told]);
  timer.abort();
}
