// Conflicts that can be foreseen while agents still work: the change of a pair of works, and the
// agents that get a hint.

export const forecastPolicies = ['tell', 'order', 'off'] as const;
/** `tell`: both agents learn of it. `order`: the later one also waits for the earlier one. */
export type ForecastPolicy = (typeof forecastPolicies)[number];

export const forecastLevels = ['same_file', 'conflict'] as const;
/** `same_file`: both change a file, and git can merge both. `conflict`: git cannot. */
export type ForecastLevel = (typeof forecastLevels)[number];

/** Two works that meet, or a work that meets its line, by their newest snapshots. */
export interface Overlap {
  readonly level: ForecastLevel;
  /** Paths in conflict, or paths that both change. Sorted. */
  readonly files: readonly string[];
}

export interface KnownOverlap extends Overlap {
  /** False if the newest snapshots before did not overlap. */
  readonly isOpen: boolean;
  /** Files in conflict of which the agents know. */
  readonly told: readonly string[];
}

export interface ForecastFacts {
  /** Absent from the store: null. */
  readonly before: KnownOverlap | null;
  readonly now: Overlap;
  /** Whether the other side is the line, whose work has landed. */
  readonly isLine: boolean;
  readonly policy: ForecastPolicy;
}

export interface ForecastStep {
  /** The state to store, unless it is stored already. */
  readonly record: Overlap | null;
  /** Files in conflict to tell the agents of. */
  readonly tell: readonly string[];
  /** The later work waits for the earlier one. */
  readonly order: boolean;
}

export function decideForecast({ before, now, isLine, policy }: ForecastFacts): ForecastStep {
  const isKnown = before?.isOpen === true && isSame(before, now);
  const told = new Set(before?.told);
  const tell = now.level === 'conflict' ? now.files.filter((file) => !told.has(file)) : [];
  return {
    record: isKnown && tell.length === 0 ? null : now,
    tell,
    order: policy === 'order' && !isLine && tell.length > 0,
  };
}

function isSame(one: Overlap, other: Overlap): boolean {
  return one.level === other.level && one.files.join('\0') === other.files.join('\0');
}

/** One side of a comparison. */
export interface ForecastWork {
  readonly taskId: string;
  /** Paths that it has changed since its base. */
  readonly files: readonly string[];
  /** Candidates of one task are alternatives: only one of them lands. */
  readonly candidateOf: string | null;
  /** Branch that it is merged into in the end. */
  readonly target: string;
  readonly startedMs: number;
}

export interface ForecastPair<W extends ForecastWork> {
  /** The one that would wait. */
  readonly later: W;
  readonly earlier: W;
  /** Paths that both have changed, sorted. */
  readonly shared: readonly string[];
}

/** Pairs with a path in common. Git reports conflicts across renames when the work lands. */
export function pairsThatMeet<W extends ForecastWork>(
  works: readonly W[],
): readonly ForecastPair<W>[] {
  const inOrder = [...works].sort(
    (a, b) => a.startedMs - b.startedMs || (a.taskId < b.taskId ? -1 : 1),
  );
  return inOrder.flatMap((later, at) =>
    inOrder.slice(0, at).flatMap((earlier) => {
      if (later.target !== earlier.target) return [];
      if (later.candidateOf !== null && later.candidateOf === earlier.candidateOf) return [];
      const shared = sharedFiles(later.files, earlier.files);
      return shared.length === 0 ? [] : [{ later, earlier, shared }];
    }),
  );
}

export function sharedFiles(one: readonly string[], other: readonly string[]): readonly string[] {
  const known = new Set(other);
  return one.filter((file) => known.has(file)).sort();
}
