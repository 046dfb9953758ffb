// The requests of `drover webhooks`: list, test, retry.

import { Refusal } from '../core/failure.ts';
import { shownUrl, type WebhookEndpoint } from '../core/settings/webhook-endpoints.ts';
import type { Handlers } from '../protocol/api.ts';
import type {
  WebhookDeliveryView,
  WebhookEndpointView,
  WebhookList,
  WebhookTestResult,
} from '../protocol/webhook-views.ts';
import type { Project } from '../project/opened-project.ts';
import type { WebhookDeliverer } from './deliverer.ts';

type WebhookLooks = 'webhooks.list' | 'webhooks.test';
export type WebhookRequests = WebhookLooks | 'webhooks.retry';

type WebhookProject = Pick<Project, 'store' | 'live' | 'machineId' | 'places'>;

const listedMax = 1_000;
const listedByDefault = 50;

export function webhookHandlers(
  project: WebhookProject,
  wake: () => void,
): Pick<Handlers, WebhookRequests> {
  return {
    ...webhookLooks(project),
    'webhooks.retry': async ({ ids }) => {
      const retried = await retry(project, ids ?? null);
      wake();
      return { retried };
    },
  };
}

/** The requests that a command can answer without a backend. */
export function webhookLooks(project: WebhookProject): Pick<Handlers, WebhookLooks> {
  return {
    'webhooks.list': async ({ endpoint, state, limit }) => {
      await project.live.refreshBounds();
      return list(project, { endpoint, state, limit });
    },
    'webhooks.test': async ({ endpoint }) => {
      await project.live.refreshBounds();
      project.live.refuseUnaccepted('webhooks.');
      return { results: await test(project, endpoint ?? null) };
    },
  };
}

async function list(
  { store, live }: WebhookProject,
  only: {
    readonly endpoint?: string | undefined;
    readonly state?: string | undefined;
    readonly limit?: number | undefined;
  },
): Promise<WebhookList> {
  const { countDeliveries, isDeliveryState, listDeliveries, readWebhookCursors } =
    await import('../store/webhooks/webhooks.ts');
  const { state, endpoint } = only;
  if (state !== undefined && !isDeliveryState(state)) {
    throw new Refusal('bad_value', 'state must be pending, sent or failed.');
  }
  const limit = Math.min(Math.max(1, Math.floor(only.limit ?? listedByDefault)), listedMax);
  const cursors = await readWebhookCursors(store.db);
  const counts = await countDeliveries(store.db);
  const { enabled, endpoints } = live.offered.webhooks;
  const rows = await listDeliveries(
    store.db,
    { ...(endpoint !== undefined && { endpoint }), ...(state !== undefined && { state }) },
    limit,
  );
  return {
    endpoints: endpoints
      .filter(({ name }) => endpoint === undefined || name === endpoint)
      .map((one): WebhookEndpointView => {
        const count = counts.get(one.name) ?? { pending: 0, sent: 0, failed: 0 };
        return {
          name: one.name,
          url: shownUrl(one.url),
          events: one.events,
          format: one.format,
          enabled: enabled && one.enabled,
          signed: one.secret !== null || one.secretVariable !== null,
          gone: cursors.get(one.name)?.gone ?? null,
          ...count,
        };
      }),
    deliveries: rows.map((row): WebhookDeliveryView => {
      return {
        id: row.id,
        endpoint: row.endpoint,
        event: row.event,
        seq: row.seq,
        state: row.state,
        tries: row.tries,
        next_at: row.state === 'pending' ? Math.floor(row.next_at_ms / 1_000) : null,
        created_at: Math.floor(row.created_at_ms / 1_000),
        ended_at: row.ended_at_ms === null ? null : Math.floor(row.ended_at_ms / 1_000),
        last_answer: row.last_answer,
      };
    }),
  };
}

async function test(
  project: WebhookProject,
  only: string | null,
): Promise<readonly WebhookTestResult[]> {
  const { endpoints } = project.live.accepted.webhooks;
  const chosen = endpoints.filter(({ name }) => only === null || name === only);
  if (chosen.length === 0) throw noEndpoint(only);
  const { makeDeliverer } = await import('./deliver.ts');
  const deliverer = await makeDeliverer(project);
  return Promise.all(chosen.map(async (endpoint) => testOne(project, deliverer, endpoint)));
}

async function testOne(
  { store }: WebhookProject,
  deliverer: WebhookDeliverer,
  endpoint: WebhookEndpoint,
): Promise<WebhookTestResult> {
  const { deliveryBody: bodyOf, makeDeliveryId } = await import('./deliverer.ts');
  const { outcomeWords } = await import('../core/webhooks/webhook-schedule.ts');
  const atMs = store.sources.clock.now();
  const id = makeDeliveryId(endpoint.name, store.sources.uuid(), atMs);
  const body = bodyOf(endpoint, {
    name: 'test',
    endpoint: endpoint.name,
    deliveryId: id,
    atMs,
    data: {},
  });
  const eventAt = Math.floor(atMs / 1_000);
  const outcome = await deliverer.post(endpoint, { event: 'test', id, body, eventAt });
  const ok = outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300;
  if (ok) {
    const { setEndpointGone } = await import('../store/webhooks/webhooks.ts');
    await store.transaction((tx) => setEndpointGone(tx, endpoint.name, null));
  }
  return { endpoint: endpoint.name, ok, answer: outcomeWords(outcome) };
}

async function retry(
  { store }: WebhookProject,
  ids: readonly string[] | null,
): Promise<readonly string[]> {
  const { retryDeliveries } = await import('../store/webhooks/webhooks.ts');
  const nowMs = store.sources.clock.now();
  return store.transaction(async (tx) => {
    const retried = await retryDeliveries(tx, ids, nowMs);
    const missing = (ids ?? []).find((id) => !retried.includes(id));
    if (missing !== undefined) {
      throw new Refusal(
        'unknown_id',
        `Delivery ${missing.slice(0, 100)} does not exist, or is being sent. Run "drover webhooks list" to list deliveries.`,
      );
    }
    return retried;
  });
}

function noEndpoint(name: string | null): Refusal {
  return name === null
    ? new Refusal(
        'bad_configuration',
        'No webhook endpoint is set. Set webhooks.url in .drover.toml or DROVER_WEBHOOK_URL.',
      )
    : new Refusal(
        'unknown_id',
        `Webhook endpoint ${name.slice(0, 100)} does not exist. Run "drover webhooks list" to list endpoints.`,
      );
}
