// The records that retention removed or would remove.

export interface PruneReport {
  /** True if nothing was removed. */
  readonly dry_run: boolean;
  readonly removed: readonly {
    readonly kind:
      | 'events'
      | 'past'
      | 'logs'
      | 'snapshots'
      | 'verdicts'
      | 'webhooks'
      | 'notes'
      | 'steps'
      | 'attachments';
    readonly count: number;
    readonly bytes: number;
  }[];
  readonly bytes: number;
}
