// The outbox of webhooks: deliveries that were made from feed events and wait to be sent. It is a
// projection with a cursor, so that every event makes exactly one delivery, even after a crash.

import type { Selectable } from 'kysely';
import type { EventView } from '../../protocol/api.ts';
import { eventView } from '../feed/feed.ts';
import type { Reads, Tx } from '../schema/tables.ts';
import type {
  DeliveryState,
  WebhookCursorTable,
  WebhookDeliveryTable,
} from '../schema/webhook-rows.ts';

export type DeliveryRow = Selectable<WebhookDeliveryTable>;
export type WebhookCursorRow = Selectable<WebhookCursorTable>;

export interface NewDelivery {
  readonly seq: number;
  readonly id: string;
  readonly event: string;
  readonly body: string;
}

export async function readWebhookCursors(
  db: Reads,
): Promise<ReadonlyMap<string, WebhookCursorRow>> {
  const rows = await db.selectFrom('webhook_cursors').selectAll().execute();
  return new Map(rows.map((row) => [row.endpoint, row]));
}

/** Makes a new endpoint receive only events after this one. */
export async function beginWebhookCursor(tx: Tx, endpoint: string, seq: number): Promise<void> {
  await tx
    .insertInto('webhook_cursors')
    .values({ endpoint, seq })
    .onConflict((conflict) => conflict.column('endpoint').doNothing())
    .execute();
}

/** Events of these types after a number, in order. */
export async function readEventsByType(
  db: Reads,
  types: readonly string[],
  after: number,
  limit: number,
): Promise<readonly EventView[]> {
  const rows = await db
    .selectFrom('events')
    .selectAll()
    .where('seq', '>', after)
    .where('type', 'in', [...types])
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map(eventView);
}

/**
 * Returns false without writing if another process has already made deliveries from these events.
 */
export async function addDeliveries(
  tx: Tx,
  endpoint: string,
  cursor: { readonly from: number; readonly to: number },
  deliveries: readonly NewDelivery[],
  nowMs: number,
): Promise<boolean> {
  const moved = await tx
    .updateTable('webhook_cursors')
    .set({ seq: cursor.to })
    .where('endpoint', '=', endpoint)
    .where('seq', '=', cursor.from)
    .returning('endpoint')
    .executeTakeFirst();
  if (moved === undefined) return false;
  for (const { seq, id, event, body } of deliveries) {
    await tx
      .insertInto('webhook_deliveries')
      .values({
        endpoint,
        seq,
        id,
        event,
        body,
        state: 'pending',
        next_at_ms: nowMs,
        created_at_ms: nowMs,
      })
      .onConflict((conflict) => conflict.columns(['endpoint', 'seq']).doNothing())
      .execute();
  }
  return true;
}

/** Deliveries that may be sent now, in event order. */
export async function dueDeliveries(
  db: Reads,
  endpoint: string,
  nowMs: number,
  limit: number,
): Promise<readonly DeliveryRow[]> {
  return db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('state', '=', 'pending')
    .where('endpoint', '=', endpoint)
    .where('next_at_ms', '<=', nowMs)
    .where((eb) => eb.or([eb('sender_until_ms', 'is', null), eb('sender_until_ms', '<=', nowMs)]))
    .orderBy('seq')
    .limit(limit)
    .execute();
}

/** When the next delivery to one of the endpoints may be sent; null if none waits. */
export async function nextDeliveryMs(
  db: Reads,
  endpoints: readonly string[],
): Promise<number | null> {
  if (endpoints.length === 0) return null;
  const row = await db
    .selectFrom('webhook_deliveries')
    .select((eb) => eb.fn.min('next_at_ms').as('at_ms'))
    .where('state', '=', 'pending')
    .where('endpoint', 'in', [...endpoints])
    .executeTakeFirst();
  return row?.at_ms ?? null;
}

/** Returns true if this machine alone may send it until the given time. */
export async function takeDelivery(
  tx: Tx,
  { endpoint, seq, tries }: DeliveryRow,
  sender: string,
  time: { readonly nowMs: number; readonly untilMs: number },
): Promise<boolean> {
  const taken = await tx
    .updateTable('webhook_deliveries')
    .set({ sender, sender_until_ms: time.untilMs })
    .where('endpoint', '=', endpoint)
    .where('seq', '=', seq)
    .where('state', '=', 'pending')
    .where('tries', '=', tries)
    .where((eb) =>
      eb.or([eb('sender_until_ms', 'is', null), eb('sender_until_ms', '<=', time.nowMs)]),
    )
    .returning('endpoint')
    .executeTakeFirst();
  return taken !== undefined;
}

export interface DeliveryEnd {
  readonly state: DeliveryState;
  readonly tries: number;
  readonly nextAtMs: number;
  readonly endedAtMs: number | null;
  readonly answer: string | null;
}

/** Records the result of a try. Does nothing if the delivery was sent or reset in the meantime. */
export async function endTry(
  tx: Tx,
  { endpoint, seq }: DeliveryRow,
  sender: string,
  end: DeliveryEnd,
): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({
      state: end.state,
      tries: end.tries,
      next_at_ms: end.nextAtMs,
      ended_at_ms: end.endedAtMs,
      last_answer: end.answer,
      sender: null,
      sender_until_ms: null,
    })
    .where('endpoint', '=', endpoint)
    .where('seq', '=', seq)
    .where('sender', '=', sender)
    .execute();
}

/**
 * Releases deliveries that a dead process of this machine was sending, so that they are sent again.
 */
export async function releaseDeliveries(tx: Tx, sender: string): Promise<void> {
  await tx
    .updateTable('webhook_deliveries')
    .set({ sender: null, sender_until_ms: null })
    .where('state', '=', 'pending')
    .where('sender', '=', sender)
    .execute();
}

/** Disables an endpoint, or enables it again if `reason` is null. */
export async function setEndpointGone(
  tx: Tx,
  endpoint: string,
  reason: string | null,
): Promise<void> {
  await tx
    .updateTable('webhook_cursors')
    .set({ gone: reason })
    .where('endpoint', '=', endpoint)
    .execute();
}

/** Newest first. */
export async function listDeliveries(
  db: Reads,
  only: { readonly endpoint?: string; readonly state?: DeliveryState },
  limit: number,
): Promise<readonly DeliveryRow[]> {
  let query = db.selectFrom('webhook_deliveries').selectAll();
  if (only.endpoint !== undefined) query = query.where('endpoint', '=', only.endpoint);
  if (only.state !== undefined) query = query.where('state', '=', only.state);
  return query.orderBy('seq', 'desc').orderBy('endpoint').limit(limit).execute();
}

export async function countDeliveries(
  db: Reads,
): Promise<ReadonlyMap<string, Readonly<Record<DeliveryState, number>>>> {
  const rows = await db
    .selectFrom('webhook_deliveries')
    .select((eb) => ['endpoint', 'state', eb.fn.countAll<number>().as('count')])
    .groupBy(['endpoint', 'state'])
    .execute();
  const counts = new Map<string, Record<DeliveryState, number>>();
  for (const { endpoint, state, count } of rows) {
    const one = counts.get(endpoint) ?? { pending: 0, sent: 0, failed: 0 };
    one[state] = Number(count);
    counts.set(endpoint, one);
  }
  return counts;
}

/**
 * Makes deliveries due again, with all of their tries: those with the ids in any state or, without
 * ids, all that failed. Resolves with their ids.
 */
export async function retryDeliveries(
  tx: Tx,
  ids: readonly string[] | null,
  nowMs: number,
): Promise<readonly string[]> {
  let query = tx
    .updateTable('webhook_deliveries')
    .set({ state: 'pending', tries: 0, next_at_ms: nowMs, ended_at_ms: null })
    .where('sender', 'is', null);
  query = ids === null ? query.where('state', '=', 'failed') : query.where('id', 'in', [...ids]);
  const rows = await query.returning(['id', 'endpoint']).execute();
  for (const endpoint of new Set(rows.map((row) => row.endpoint)))
    await setEndpointGone(tx, endpoint, null);
  return rows.map((row) => row.id);
}

export function isDeliveryState(text: string): text is DeliveryState {
  return text === 'pending' || text === 'sent' || text === 'failed';
}
