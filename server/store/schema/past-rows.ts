// The tables of the past, as Kysely sees them.

import type { Generated } from 'kysely';

/** The values of a row before one change; written by triggers alone. */
export interface PastTable {
  /** In the order of the changes. */
  n: Generated<number>;
  /** Equal for the changes of one transaction, which are adjacent. */
  tx: number;
  op: 'insert' | 'update' | 'delete';
  tbl: string;
  /** JSON list: the values of its key. */
  key: string;
  /** JSON object: an update's changed columns, a deleted row whole; null for an insert. */
  old: string | null;
}

/** Maps each event to the changes of its transaction. */
export interface PastEventTable {
  seq: number;
  /** The last change before the event. */
  n: number;
  tx: number;
}

/** One row: events after this one have a past. */
export interface PastStartTable {
  seq: number;
}

/** The metrics' counts of removed events. */
export interface MetricsCarriedTable {
  /** Name and labels, as Prometheus writes them. */
  series: string;
  value: number;
}

/** One row: the last event that was removed; 0 = none was. */
export interface PrunedEventsTable {
  seq: number;
}

export interface PastTables {
  past: PastTable;
  past_events: PastEventTable;
  past_start: PastStartTable;
  metrics_carried: MetricsCarriedTable;
  pruned_events: PrunedEventsTable;
}
