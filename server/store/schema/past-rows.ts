// The tables that record earlier states, as Kysely sees them.

import type { Generated } from 'kysely';

/** The values of a row before one change. Only triggers write it. */
export interface PastTable {
  /** In the order of the changes. */
  n: Generated<number>;
  /** All changes of one transaction have the same number, and they are adjacent. */
  tx: number;
  op: 'insert' | 'update' | 'delete';
  tbl: string;
  /** JSON list of the values of the row's key. */
  key: string;
  /** JSON object: the changed columns of an update, or a whole deleted row; null for an insert. */
  old: string | null;
}

/** Maps each event to the changes of its transaction. */
export interface PastEventTable {
  seq: number;
  /** The last change before the event. */
  n: number;
  tx: number;
}

/** One row: the event after which earlier states can be restored. */
export interface PastStartTable {
  seq: number;
}

/** The metrics' counts of removed events. */
export interface MetricsCarriedTable {
  /** Name and labels in the Prometheus text format. */
  series: string;
  value: number;
}

/** One row: the last event that was removed; 0 = none. */
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
