// The outbox of messages to a forge. A row is added in the transaction that causes it, and ends in
// the transaction that records the response. In between, the request checks the forge's current
// state.

import type { Selectable } from 'kysely';
import type { ForgeOutboxTable } from '../schema/forge-rows.ts';
import type { Reads, Tx } from '../schema/tables.ts';

export type OutboxRow = Selectable<ForgeOutboxTable>;

/** Kind of a request that posts a person's reply. */
export const personReply = 'person_reply';

export interface PlannedRequest {
  readonly key: string;
  readonly epicId: string;
  readonly position: number;
  readonly kind: string;
  readonly request: object;
}

/**
 * A newer state of the epic does not change these requests, because they follow from merges or from
 * a person.
 */
const lasting = ['retarget', 'delete', personReply];

/** Replaces requests for an older state of the epic that have not been sent. */
export async function planRequests(
  tx: Tx,
  epicId: string,
  requests: readonly PlannedRequest[],
  nowMs: number,
): Promise<void> {
  await tx
    .updateTable('forge_outbox')
    .set({ state: 'dropped', ended_at_ms: nowMs })
    .where('epic_id', '=', epicId)
    .where('state', '=', 'pending')
    .where('kind', 'not in', lasting)
    .execute();
  const pending = { state: 'pending' as const, tries: 0, next_at_ms: nowMs, answer: null };
  for (const { key, position, kind, request } of requests) {
    const row = { ...pending, request: JSON.stringify(request), created_at_ms: nowMs };
    await tx
      .insertInto('forge_outbox')
      .values({ key, epic_id: epicId, position, kind, ...row })
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ ...row, ended_at_ms: null }))
      .execute();
  }
}

/** Adds a request beside all others. Adds it only once, whether or not it has been sent. */
export async function addRequest(
  tx: Tx,
  { key, epicId, position, kind, request }: PlannedRequest,
  nowMs: number,
): Promise<void> {
  const at = { next_at_ms: nowMs, created_at_ms: nowMs, state: 'pending' as const };
  await tx
    .insertInto('forge_outbox')
    .values({ key, epic_id: epicId, position, kind, request: JSON.stringify(request), ...at })
    .onConflict((conflict) => conflict.column('key').doNothing())
    .execute();
}

/** All pending requests in sending order. */
export async function pendingRequests(db: Reads): Promise<readonly OutboxRow[]> {
  return db
    .selectFrom('forge_outbox')
    .selectAll()
    .where('state', '=', 'pending')
    .orderBy('created_at_ms')
    .orderBy('epic_id')
    .orderBy('position')
    .execute();
}

/** All requests ever planned for the epic. */
export async function outboxOfEpic(db: Reads, epicId: string): Promise<readonly OutboxRow[]> {
  return db.selectFrom('forge_outbox').selectAll().where('epic_id', '=', epicId).execute();
}

export async function endRequest(
  tx: Tx,
  key: string,
  end: { readonly state: 'done' | 'failed'; readonly answer: string | null; readonly atMs: number },
): Promise<void> {
  await tx
    .updateTable('forge_outbox')
    .set({ state: end.state, answer: end.answer, ended_at_ms: end.atMs })
    .where('key', '=', key)
    .where('state', '=', 'pending')
    .execute();
}

export async function delayRequest(
  tx: Tx,
  { key, tries }: OutboxRow,
  nextAtMs: number,
  answer: string,
): Promise<void> {
  await tx
    .updateTable('forge_outbox')
    .set({ tries: tries + 1, next_at_ms: Math.round(nextAtMs), answer })
    .where('key', '=', key)
    .where('state', '=', 'pending')
    .execute();
}
