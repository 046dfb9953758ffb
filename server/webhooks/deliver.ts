// The backend's part in webhooks: wakes the deliverer when the feed grows and when a delivery is
// due. The deliverer is loaded only if an endpoint is configured.

import { setTimeout as wait } from 'node:timers/promises';
import type { TurnEnd, WebhookDeliverer } from './deliverer.ts';
import { projectMark } from '../project/project-mark.ts';
import type { Project, Report } from '../project/opened-project.ts';

/**
 * The backend keeps running while a delivery is due within this time. Later ones are sent by the
 * next backend.
 */
const soonMs = 10 * 60_000;
/**
 * A wake-up may be missed (settings change, other machines send), so the outbox is checked at least
 * this often.
 */
const lookMs = 60_000;
/** Events within this time are handled together. */
const gatherMs = 50;
const sending = 'sending webhooks';

export async function makeDeliverer(
  project: Pick<Project, 'store' | 'machineId' | 'live' | 'places'>,
): Promise<WebhookDeliverer> {
  const deliverer = await import('./deliverer.ts');
  return new deliverer.WebhookDeliverer({
    store: project.store,
    machineId: project.machineId,
    project: projectMark(project.places.root),
    settings: () => project.live.accepted.webhooks,
    offered: () => project.live.offered.webhooks,
    environment: () => project.live.environment,
    chance: Math.random,
  });
}

export class WebhookDelivery {
  readonly #project: Project;
  readonly #report: Report;
  readonly #stop = new AbortController();
  readonly #forgets: readonly (() => void)[];
  readonly #over: Promise<void>;
  #news = Promise.withResolvers<void>();
  #isSending = false;
  #next: TurnEnd = { nextMs: null, nextHopefulMs: null };
  #deliverer: WebhookDeliverer | null;

  private constructor(project: Project, report: Report, deliverer: WebhookDeliverer | null) {
    this.#project = project;
    this.#report = report;
    this.#deliverer = deliverer;
    const wake = (): void => this.wake();
    this.#forgets = [project.store.feed.onAppend(wake), project.live.onAccepted(wake)];
    this.#over = this.#keepSending();
  }

  /** Resolves once configured endpoints get all later events. */
  static async begin(project: Project, report: Report): Promise<WebhookDelivery> {
    const begun = hasEndpoints(project) ? beginDeliverer(project) : null;
    const deliverer = await begun?.catch((error: unknown) => report(error, sending));
    return new WebhookDelivery(project, report, deliverer ?? null);
  }

  /** A delivery may be due now. */
  wake(): void {
    this.#news.resolve();
  }

  /** True while a delivery is being sent or is due soon, so that the backend keeps running. */
  isBusy(): boolean {
    const { nextHopefulMs } = this.#next;
    return this.#isSending || (nextHopefulMs !== null && nextHopefulMs - Date.now() < soonMs);
  }

  async close(): Promise<void> {
    for (const forget of this.#forgets) forget();
    this.#stop.abort();
    this.wake();
    await this.#deliverer?.close();
    await this.#over;
  }

  async #keepSending(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#news = Promise.withResolvers<void>();
      if (hasEndpoints(this.#project)) {
        this.#isSending = true;
        await this.#send();
        this.#isSending = false;
      }
      const { nextMs } = this.#next;
      const dueInMs = nextMs === null ? lookMs : nextMs - Date.now();
      const waitMs = Math.min(lookMs, Math.max(dueInMs, gatherMs));
      await untilNews(this.#news.promise, waitMs, signal);
    }
  }

  async #send(): Promise<void> {
    try {
      this.#deliverer ??= await beginDeliverer(this.#project);
      this.#next = await this.#deliverer.turn();
    } catch (error) {
      this.#report(error, sending);
    }
  }
}

function hasEndpoints({ live }: Project): boolean {
  return [live.accepted, live.offered].some(
    ({ webhooks }) => webhooks.enabled && webhooks.endpoints.length > 0,
  );
}

async function beginDeliverer(project: Project): Promise<WebhookDeliverer> {
  const made = await makeDeliverer(project);
  await made.begin();
  return made;
}

async function untilNews(news: Promise<void>, timeMs: number, signal: AbortSignal): Promise<void> {
  const timer = new AbortController();
  const ended = AbortSignal.any([timer.signal, signal]);
  const timedOut = wait(timeMs, undefined, { signal: ended }).catch(() => undefined);
  const told = news.then(() => wait(gatherMs, undefined, { signal }).catch(() => undefined));
  await Promise.race([timedOut, told]);
  timer.abort();
}
