// Decides which candidates of a line to gate now. Candidate k is the merge of the first k waiting
// tasks. An early gate only makes the verdict on its tree available sooner; the rules of landing do
// not change.

/** The gate's result for one tree. A single failure counts as `red`. */
export type Known = 'green' | 'red' | 'running' | null;

export interface SpeculationFacts {
  /** The probability, from 0 to 1, that each waiting task passes, in landing order. */
  readonly odds: readonly number[];
  /** States of the merges of the first k tasks; index k - 1. */
  readonly prefixes: readonly Known[];
  /** States of the merges of all tasks except one; indexed by the omitted task. */
  readonly without: readonly Known[];
  /** Running gates of this line for other trees. */
  readonly others: number;
  /** Maximum number of gates that this line may run at once now. */
  readonly places: number;
  /** Maximum number of running candidates that build on each other. */
  readonly window: number;
  /** How long the gate takes (ms). */
  readonly gateMs: number;
}

export interface Candidate {
  /** The number of tasks in the merge. */
  readonly through: number;
  /** The index of an omitted task, or null. */
  readonly without: number | null;
}

export type SpeculationStep =
  | { readonly kind: 'land'; readonly through: number }
  /** The first task fails the gate by itself. */
  | { readonly kind: 'alone' }
  | {
      readonly kind: 'gates';
      readonly start: readonly Candidate[];
      /** Candidates whose gates can no longer affect the decision. */
      readonly stop: readonly Candidate[];
      /** Whether another task would start a gate or join the next candidates. */
      readonly isOpen: boolean;
    };

/** Earlier gates for one agent's tasks in one epic. */
export interface PastGates {
  readonly runs: number;
  readonly passes: number;
}

/** Smoothed, so that a single result does not determine the estimate. */
export function oddsOf({ runs, passes }: PastGates): number {
  return (passes + 1) / (runs + 2);
}

/** No early candidate is built on a task with a lower probability. */
const likely = 0.5;
/** A shorter gate ends before an early gate would help (ms). */
export const shortGateMs = 5_000;
const earlyAtStart = 3;

/** Includes the first candidate. */
export function windowAtStart(most: number): number {
  return 1 + Math.max(0, Math.min(earlyAtStart, most - 1));
}

export function windowAfter(end: 'landed' | 'red', window: number, most: number): number {
  return end === 'landed'
    ? Math.max(1, Math.min(window + 1, most))
    : Math.max(1, Math.floor(window / 2));
}

/** The default of `[gate] parallel`. `cores` is null if unknown. */
export function parallelGates(cores: number | null): number {
  return Math.max(1, Math.min(3, Math.floor((cores ?? 1) / 2)));
}

export function decide(facts: SpeculationFacts): SpeculationStep {
  const { prefixes, without } = facts;
  const green = prefixes.lastIndexOf('green') + 1;
  if (green > 0) return { kind: 'land', through: green };
  const red = prefixes.indexOf('red') + 1;
  if (red === 1) return { kind: 'alone' };
  const running = placesOf(prefixes, 'running');
  const guesses = placesOf(without, 'running');
  const stop: Candidate[] = [
    ...running.filter((through) => red > 0 && through > red).map(prefix),
    ...guesses
      .filter((place) => place > red)
      .map((place) => ({ through: prefixes.length, without: place - 1 })),
  ];
  const places = facts.gateMs < shortGateMs ? 1 : facts.places;
  // A stopping gate occupies its place until it has ended.
  const free = places - running.length - guesses.length - facts.others;
  if (red > 0) {
    const isUnderWay = [...prefixes.slice(0, red), ...without.slice(0, red)].includes('running');
    return { kind: 'gates', start: search(facts, red, free), stop, isOpen: !isUnderWay };
  }
  return { kind: 'gates', stop, ...ahead(facts, running, free) };
}

function prefix(through: number): Candidate {
  return { through, without: null };
}

/** The numbers of tasks (k) whose candidate has this state. */
function placesOf(all: readonly Known[], known: Known): number[] {
  return all.flatMap((one, at) => (one === known ? [at + 1] : []));
}

/** No candidate is red, so gates all waiting work on top of the running candidates. */
function ahead(
  { odds, window }: SpeculationFacts,
  running: readonly number[],
  free: number,
): { readonly start: readonly Candidate[]; readonly isOpen: boolean } {
  const last = running.at(-1) ?? 0;
  const isTrusted = odds.slice(0, last).every((one) => one >= likely);
  if (free <= 0 || !isTrusted || running.length >= window) return { start: [], isOpen: false };
  if (last === odds.length) return { start: [], isOpen: last > 0 };
  return { start: [prefix(nextEnd(odds, last))], isOpen: false };
}

/** An early candidate ends before the first task that would probably make it fail. */
function nextEnd(odds: readonly number[], last: number): number {
  if (last === 0) return odds.length;
  const doubtful = odds.findIndex((one, at) => at >= last && one < likely);
  return doubtful === -1 ? odds.length : Math.max(doubtful, last + 1);
}

/**
 * One of the first `red` tasks breaks the gate. Searches for that task, and for the work that can
 * land without it.
 */
function search(facts: SpeculationFacts, red: number, free: number): readonly Candidate[] {
  if (free <= 0) return [];
  const { odds, prefixes, without, window } = facts;
  const live = placesOf(prefixes.slice(0, red), 'running').length;
  const count = Math.min(red - 1, live + free);
  const even = Array.from({ length: count }, (_, at) => Math.round(((at + 1) * red) / (count + 1)));
  const cuts = even.filter((through) => prefixes[through - 1] === null).slice(0, free);
  const start = cuts.map(prefix);
  if (odds.length === red) return start;
  const guesses = placesOf(without.slice(0, red), 'running').length;
  const left = Math.min(free - start.length, window - guesses);
  const suspects = odds
    .slice(0, red)
    .map((one, at) => ({ one, at }))
    .filter(({ at }) => without[at] === null)
    .sort((a, b) => a.one - b.one || b.at - a.at);
  for (const { at } of suspects.slice(0, Math.max(0, left)))
    start.push({ through: odds.length, without: at });
  return start;
}
