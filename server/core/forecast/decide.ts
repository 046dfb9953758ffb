// Foresees conflicts between running agents: how the overlap of the work of two tasks changed, and
// which agents get a hint.

export const forecastPolicies = ['tell', 'order', 'off'] as const;
/** `tell`: both agents get a hint. `order`: one task also waits for the other (`orderOfPair`). */
export type ForecastPolicy = (typeof forecastPolicies)[number];

export const forecastLevels = ['same_file', 'conflict'] as const;
/** `same_file`: both change a file, but git can merge them. `conflict`: git cannot merge them. */
export type ForecastLevel = (typeof forecastLevels)[number];

/** How the latest snapshots of two tasks, or of a task and its line, overlap. */
export interface Overlap {
  readonly level: ForecastLevel;
  /** Conflicting paths or, if none conflict, paths that both change. Sorted. */
  readonly files: readonly string[];
}

export interface KnownOverlap extends Overlap {
  /** False if the latest snapshots no longer overlap. */
  readonly isOpen: boolean;
  /** Conflicting files that the agents already know about. */
  readonly told: readonly string[];
}

export interface ForecastFacts {
  /** Null if the store has no such overlap. */
  readonly before: KnownOverlap | null;
  readonly now: Overlap;
  /** Whether the other side is the line with its landed work. */
  readonly isLine: boolean;
  readonly policy: ForecastPolicy;
}

export interface ForecastStep {
  /** The state to store, or null if it is already stored. */
  readonly record: Overlap | null;
  /** Conflicting files to tell the agents about. */
  readonly tell: readonly string[];
  /** Whether one of the two tasks must wait for the other. */
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
  /** Paths that it changed since its base. */
  readonly files: readonly string[];
  /** Only one candidate of a task lands, so candidates of the same task never conflict. */
  readonly candidateOf: string | null;
  /** The branch that it finally lands on. */
  readonly target: string;
  readonly startedMs: number;
  /** The agent has ended, and its work is waiting to land. */
  readonly isFinished: boolean;
}

export interface ForecastPair<W extends ForecastWork> {
  readonly later: W;
  readonly earlier: W;
  /** Paths that both changed, sorted. */
  readonly shared: readonly string[];
}

/**
 * Finds pairs of tasks whose work changed the same path. Git detects conflicts across renames only
 * at the landing.
 */
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

/**
 * The later task waits for the earlier one, unless only the later one is finished: waiting would
 * mean redoing it. Returns null if both are finished, because their landings then decide.
 */
export function orderOfPair<W extends ForecastWork>(
  later: W,
  earlier: W,
): { readonly waits: W; readonly lands: W } | null {
  if (!later.isFinished) return { waits: later, lands: earlier };
  return earlier.isFinished ? null : { waits: earlier, lands: later };
}

export function sharedFiles(one: readonly string[], other: readonly string[]): readonly string[] {
  const known = new Set(other);
  return one.filter((file) => known.has(file)).sort();
}
