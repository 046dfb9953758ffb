// The order in which tasks start, as a comparison for the store's queries.

export interface StartCandidate {
  readonly id: string;
  readonly priority: number;
  /** Length of the longest chain of dependents that starts here, including this task. */
  readonly chain: number;
  readonly createdAt: number;
  /**
   * Position in the order that people set, which is the creation order as long as nothing was
   * moved.
   */
  readonly position?: number;
}

/**
 * Start order: priority (higher first), chain (longer first), position, then age (older first) and
 * id.
 */
export function compareForStart(a: StartCandidate, b: StartCandidate): number {
  return (
    b.priority - a.priority ||
    b.chain - a.chain ||
    (a.position ?? 0) - (b.position ?? 0) ||
    a.createdAt - b.createdAt ||
    (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
  );
}
