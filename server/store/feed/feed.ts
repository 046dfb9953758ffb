// The numbered event feed. Events are appended in the transaction of the change that they describe,
// and read by number.

import type { Clock } from '../../durable/port.ts';
import type { EventView } from '../../protocol/api.ts';
import { currentActor } from './actor.ts';
import type { EventRow, Tx } from '../schema/tables.ts';

/** Clock, ids and random numbers of the store, which tests and the simulation can replace. */
export interface StoreSources {
  readonly clock: Clock;
  readonly uuid: () => string;
  readonly random: (bytes: number) => Uint8Array;
  /** Called when an event is appended. The store notifies listeners after the commit. */
  readonly appended?: () => void;
}

export interface NewEvent {
  readonly type: string;
  readonly taskId?: string | null;
  readonly epicId?: string | null;
  readonly runId?: string | null;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Appends one event. The database assigns its number. */
export async function appendEvent(tx: Tx, sources: StoreSources, event: NewEvent): Promise<void> {
  const nowMs = sources.clock.now();
  const actor = currentActor();
  await tx
    .insertInto('events')
    .values({
      id: sources.uuid(),
      type: event.type,
      timestamp: Math.floor(nowMs / 1000),
      at_ms: nowMs,
      task_id: event.taskId ?? null,
      epic_id: event.epicId ?? null,
      run_id: event.runId ?? null,
      data: JSON.stringify({ ...event.data, ...(actor !== null && { actor }) }),
    })
    .execute();
  sources.appended?.();
}

export function eventView(row: EventRow): EventView {
  return {
    seq: row.seq,
    id: row.id,
    type: row.type,
    timestamp: row.timestamp,
    at_ms: row.at_ms,
    task_id: row.task_id,
    epic_id: row.epic_id,
    run_id: row.run_id,
    data: JSON.parse(row.data) as Record<string, unknown>,
  };
}
