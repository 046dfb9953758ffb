// Turns feed events into deliveries and sends those that are due. One turn at a time. Everything
// that must outlive the process is in the outbox, so a turn can end at any point.

import { createHash } from 'node:crypto';
import type { WebhookEndpoint, WebhookSettings } from '../core/settings/webhook-endpoints.ts';
import {
  discordBody,
  droverBody,
  slackBody,
  webhookData,
  parseWebhookEvent,
  webhookFeedTypes,
  webhookLink,
  type WebhookMessage,
} from '../core/webhooks/webhook-events.ts';
import {
  endpointPauseMs,
  isTroubleOfEndpoint,
  judgePost,
  outcomeWords,
  type PostOutcome,
} from '../core/webhooks/webhook-schedule.ts';
import type { EventView } from '../protocol/api.ts';
import type { Store } from '../store/port.ts';
import {
  addDeliveries,
  beginWebhookCursor,
  type DeliveryRow,
  dueDeliveries,
  endTry,
  type NewDelivery,
  nextDeliveryMs,
  readEventsByType,
  readWebhookCursors,
  releaseDeliveries,
  setEndpointGone,
  takeDelivery,
} from '../store/webhooks/webhooks.ts';
import { postWebhook } from './post.ts';
import { webhookHeaders } from './sign.ts';

export interface DelivererDeps {
  readonly store: Store;
  /** Identifies this machine among those that send from the same outbox. */
  readonly machineId: string;
  /** Identifies the project on the page of `drover web`. */
  readonly project: string;
  /** The settings that a person accepted. Nothing is sent elsewhere. */
  readonly settings: () => WebhookSettings;
  /**
   * The settings in the files. Once they are accepted, their endpoints get all events from now on.
   */
  readonly offered: () => WebhookSettings;
  readonly environment: () => Readonly<Record<string, string | undefined>>;
  /** A random number between 0 and 1. */
  readonly chance: () => number;
}

const eventsPerPage = 500;
/** The stored cursor may be this far behind while no event leads to a delivery. */
const eventsUnstoredMax = 2_000;
const deliveriesPerPage = 50;
export const webhookTimeoutMs = 15_000;
/** Longer than a try can last. */
const leaseMs = webhookTimeoutMs + 15_000;
/**
 * Events older than this when they are first read are skipped, so that an endpoint that recovers is
 * not flooded.
 */
const eventAgeMaxMs = 3 * 24 * 3_600_000;

/** After this many consecutive failures, a backend no longer keeps running for an endpoint. */
const failuresOfDown = 3;

export interface TurnEnd {
  /** When the next delivery is due (Unix ms); null if none waits. */
  readonly nextMs: number | null;
  /** Like `nextMs`, without endpoints that have been failing for a while. */
  readonly nextHopefulMs: number | null;
}

const nothingDue: TurnEnd = { nextMs: null, nextHopefulMs: null };

export class WebhookDeliverer {
  readonly #deps: DelivererDeps;
  readonly #stop = new AbortController();
  /** Endpoints that failed recently, and until when they are skipped. */
  readonly #pauses = new Map<string, { failures: number; untilMs: number }>();
  /**
   * Events up to these numbers were read without a delivery, so the stored cursor may be behind.
   */
  readonly #seen = new Map<string, number>();
  #turn: Promise<TurnEnd> = Promise.resolve(nothingDue);

  constructor(deps: DelivererDeps) {
    this.#deps = deps;
  }

  /**
   * Before the first turn: deliveries that a dead process of this machine was sending become due
   * again, and new endpoints get all events from now on.
   */
  async begin(): Promise<void> {
    const { store, machineId } = this.#deps;
    await store.transaction((tx) => releaseDeliveries(tx, machineId));
    await this.#cursorsOf(this.#known());
  }

  #active(): readonly WebhookEndpoint[] {
    return enabledOf(this.#deps.settings());
  }

  #known(): readonly WebhookEndpoint[] {
    return [...this.#active(), ...enabledOf(this.#deps.offered())];
  }

  /** Makes deliveries from new events and sends those that are due. */
  async turn(): Promise<TurnEnd> {
    this.#turn = this.#turn.then(
      () => this.#takeTurn(),
      () => this.#takeTurn(),
    );
    return this.#turn;
  }

  /** Aborts current deliveries, which the next process sends again. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#turn.catch(() => nothingDue);
  }

  async #takeTurn(): Promise<TurnEnd> {
    const active = this.#active();
    if (this.#stop.signal.aborted) return nothingDue;
    const cursors = await this.#cursorsOf(this.#known());
    if (active.length === 0) return nothingDue;
    const used = active.filter(({ name }) => cursors.get(name)?.gone === null);
    for (const endpoint of used)
      await this.#project(endpoint, cursors.get(endpoint.name)?.seq ?? 0);
    await Promise.all(used.map((endpoint) => this.#sendDue(endpoint)));
    return this.#nextOf(used.map(({ name }) => name));
  }

  async #nextOf(names: readonly string[]): Promise<TurnEnd> {
    const all: number[] = [];
    const hopeful: number[] = [];
    for (const name of names) {
      const dueMs = await nextDeliveryMs(this.#deps.store.db, [name]);
      if (dueMs === null) continue;
      const pause = this.#pauses.get(name);
      const atMs = Math.max(dueMs, pause?.untilMs ?? 0);
      all.push(atMs);
      if ((pause?.failures ?? 0) < failuresOfDown) hopeful.push(atMs);
    }
    return { nextMs: earliest(all), nextHopefulMs: earliest(hopeful) };
  }

  async #cursorsOf(endpoints: readonly WebhookEndpoint[]): ReturnType<typeof readWebhookCursors> {
    const { store } = this.#deps;
    const known = await readWebhookCursors(store.db);
    const names = new Set(endpoints.map(({ name }) => name));
    const fresh = [...names].filter((name) => !known.has(name));
    if (fresh.length === 0) return known;
    const seq = await store.feed.lastSeq();
    await store.transaction(async (tx) => {
      for (const name of fresh) await beginWebhookCursor(tx, name, seq);
    });
    return readWebhookCursors(store.db);
  }

  async #project(endpoint: WebhookEndpoint, stored: number): Promise<void> {
    const { store } = this.#deps;
    let from = stored;
    let after = Math.max(stored, this.#seen.get(endpoint.name) ?? 0);
    for (;;) {
      const upTo = await store.feed.lastSeq();
      const events = await readEventsByType(store.db, webhookFeedTypes, after, eventsPerPage);
      const last = events.at(-1);
      // A full page ends at its last event. After a short page, no events of these types follow up
      // to `upTo`.
      const to =
        events.length === eventsPerPage && last !== undefined
          ? last.seq
          : Math.max(upTo, last?.seq ?? 0);
      const deliveries = events.flatMap((event) => deliveryOf(this.#deps, endpoint, event));
      if (deliveries.length > 0 || to - from > eventsUnstoredMax) {
        const nowMs = this.#nowMs();
        const isOurs = await store.transaction((tx) =>
          addDeliveries(tx, endpoint.name, { from, to }, deliveries, nowMs),
        );
        if (!isOurs) return;
        from = to;
      }
      this.#seen.set(endpoint.name, to);
      after = to;
      if (events.length < eventsPerPage) return;
    }
  }

  async #sendDue(endpoint: WebhookEndpoint): Promise<void> {
    const { store } = this.#deps;
    for (;;) {
      if (this.#stop.signal.aborted) return;
      if ((this.#pauses.get(endpoint.name)?.untilMs ?? 0) > this.#nowMs()) return;
      const rows = await dueDeliveries(store.db, endpoint.name, this.#nowMs(), deliveriesPerPage);
      if (rows.length === 0) return;
      for (const row of rows) {
        if (!(await this.#send(endpoint, row))) return;
      }
    }
  }

  /** Returns false if the endpoint gets nothing more for now. */
  async #send(endpoint: WebhookEndpoint, row: DeliveryRow): Promise<boolean> {
    const { store, machineId, chance } = this.#deps;
    const nowMs = this.#nowMs();
    const untilMs = nowMs + leaseMs;
    if (!(await store.transaction((tx) => takeDelivery(tx, row, machineId, { nowMs, untilMs }))))
      return true;
    const outcome = await this.post(endpoint, {
      event: row.event,
      id: row.id,
      body: row.body,
      eventAt: eventSeconds(row),
    });
    if (this.#stop.signal.aborted && outcome.kind === 'failed') {
      await store.transaction((tx) => releaseDeliveries(tx, machineId));
      return false;
    }
    const tries = row.tries + 1;
    const verdict = judgePost(outcome, tries, chance());
    const endedMs = this.#nowMs();
    await store.transaction(async (tx) => {
      await endTry(tx, row, machineId, {
        state: verdict.kind === 'sent' ? 'sent' : verdict.kind === 'again' ? 'pending' : 'failed',
        tries,
        nextAtMs: verdict.kind === 'again' ? Math.round(endedMs + verdict.waitMs) : endedMs,
        endedAtMs: verdict.kind === 'again' ? null : endedMs,
        answer: outcomeWords(outcome),
      });
      if (verdict.kind === 'given_up' && verdict.isGone) {
        await setEndpointGone(tx, endpoint.name, 'The receiver answered HTTP 410 (gone).');
      }
    });
    if (verdict.kind === 'given_up' && verdict.isGone) return false;
    return this.#noteHealth(endpoint.name, outcome, endedMs);
  }

  #noteHealth(name: string, outcome: PostOutcome, nowMs: number): boolean {
    if (!isTroubleOfEndpoint(outcome)) {
      this.#pauses.delete(name);
      return true;
    }
    const failures = (this.#pauses.get(name)?.failures ?? 0) + 1;
    this.#pauses.set(name, { failures, untilMs: nowMs + endpointPauseMs(failures) });
    return false;
  }

  /** Posts it once, whatever the outbox contains. */
  async post(
    endpoint: WebhookEndpoint,
    delivery: {
      readonly event: string;
      readonly id: string;
      readonly body: string;
      readonly eventAt: number;
    },
  ): Promise<PostOutcome> {
    const { environment, settings } = this.#deps;
    const variable = endpoint.secretVariable;
    const secret = variable === null ? endpoint.secret : (environment()[variable] ?? '');
    if (secret === '') {
      return {
        kind: 'failed',
        reason: `The variable ${variable ?? ''} with the secret is not set.`,
      };
    }
    const sentAt = Math.floor(this.#nowMs() / 1_000);
    const signed = webhookHeaders({ endpoint: endpoint.name, ...delivery, sentAt, secret });
    return postWebhook({
      url: endpoint.url,
      headers: { ...endpoint.headers, ...signed },
      body: delivery.body,
      allowPrivate: settings().allowPrivate,
      timeoutMs: webhookTimeoutMs,
      signal: this.#stop.signal,
    });
  }

  #nowMs(): number {
    return this.#deps.store.sources.clock.now();
  }
}

function enabledOf({ enabled, endpoints }: WebhookSettings): readonly WebhookEndpoint[] {
  return enabled ? endpoints.filter((endpoint) => endpoint.enabled) : [];
}

function earliest(times: readonly number[]): number | null {
  return times.length === 0 ? null : Math.min(...times);
}

/** The id starts with the event's time. */
function eventSeconds(row: DeliveryRow): number {
  return Math.floor(Number(row.id.slice(0, row.id.indexOf('-'))) / 1e9);
}

function deliveryOf(
  { project, settings, store }: DelivererDeps,
  endpoint: WebhookEndpoint,
  event: EventView,
): readonly NewDelivery[] {
  const nowMs = store.sources.clock.now();
  const name = parseWebhookEvent(event.type);
  if (name === null || event.at_ms < nowMs - eventAgeMaxMs) return [];
  if (endpoint.events.length > 0 && !endpoint.events.includes(name)) return [];
  const id = makeDeliveryId(endpoint.name, event.id, event.at_ms);
  const { pageUrl = null } = settings();
  const message: WebhookMessage = {
    name,
    endpoint: endpoint.name,
    deliveryId: id,
    atMs: event.at_ms,
    data: webhookData(name, event),
    ...(pageUrl !== null && { link: webhookLink(pageUrl, project, name, event) }),
  };
  return [{ seq: event.seq, id, event: name, body: deliveryBody(endpoint, message) }];
}

/** `<unix nanoseconds>-<8 letters or digits>`, always the same for the same event. */
export function makeDeliveryId(endpoint: string, eventId: string, atMs: number): string {
  const digest = createHash('sha256').update(`${endpoint}/${eventId}`).digest('hex');
  const word = BigInt(`0x${digest.slice(0, 16)}`)
    .toString(36)
    .padStart(13, '0')
    .slice(-8);
  return `${Math.round(atMs)}000000-${word}`;
}

export function deliveryBody({ format }: WebhookEndpoint, message: WebhookMessage): string {
  switch (format) {
    case 'drover':
      return droverBody(message);
    case 'slack':
      return slackBody(message);
    case 'discord':
      return discordBody(message);
  }
}
