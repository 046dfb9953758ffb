// The tables for outgoing data, as Kysely sees them: webhooks, and the progress of exporters.

import type { Defaulted } from './column-values.ts';
import type { ExporterTable } from './exporter-table.ts';

/** The last feed event for which an endpoint's deliveries have been made. */
export interface WebhookCursorTable {
  endpoint: string;
  seq: number;
  /** Why the endpoint is no longer used; null = it is in use. */
  gone: Defaulted<string | null>;
}

export type DeliveryState = 'pending' | 'sent' | 'failed';

export interface WebhookDeliveryTable {
  endpoint: string;
  /** The number of its event. */
  seq: number;
  /** The ID is the same for all tries. */
  id: string;
  event: string;
  body: string;
  state: DeliveryState;
  tries: Defaulted<number>;
  next_at_ms: number;
  created_at_ms: number;
  ended_at_ms: Defaulted<number | null>;
  /** The response to the last try, for people. */
  last_answer: Defaulted<string | null>;
  /** The machine that is sending it, and until when other machines must not. */
  sender: Defaulted<string | null>;
  sender_until_ms: Defaulted<number | null>;
}

export interface OutgoingTables {
  exporters: ExporterTable;
  webhook_cursors: WebhookCursorTable;
  webhook_deliveries: WebhookDeliveryTable;
}
