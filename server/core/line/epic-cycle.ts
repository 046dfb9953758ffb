// Epics that land as wholes and wait for each other: none of them could land first.

export interface EpicWait {
  readonly epic: string;
  readonly task: string;
  readonly blocker: string;
  /** The epic of the blocker. */
  readonly on: string;
}

/**
 * The waits along a shortest way from the epic back to itself; null if it does not wait for itself.
 */
export function epicCycle(epic: string, waits: readonly EpicWait[]): readonly EpicWait[] | null {
  const ways = new Map<string, readonly EpicWait[]>([[epic, []]]);
  for (const [from, way] of ways) {
    for (const wait of waits.filter((each) => each.epic === from)) {
      if (wait.on === epic) return [...way, wait];
      if (!ways.has(wait.on)) ways.set(wait.on, [...way, wait]);
    }
  }
  return null;
}
