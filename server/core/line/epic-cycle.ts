// Finds epics that land as a whole but wait for each other, so that none can land first.

export interface EpicWait {
  readonly epic: string;
  readonly task: string;
  readonly blocker: string;
  /** The blocker's epic. */
  readonly on: string;
}

/**
 * The shortest cycle of waits from the epic back to itself; null if it does not wait for itself.
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
