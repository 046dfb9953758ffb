// The row of an exporter of the feed.

/** The table as Kysely sees it. */
export interface ExporterTable {
  name: string;
  /** Everything that had ended at this event has been sent. */
  seq: number;
  owner: string | null;
  owner_until_ms: number | null;
  sent_at_ms: number | null;
  /** Why the last try failed; null = it succeeded. */
  error: string | null;
  error_at_ms: number | null;
}
