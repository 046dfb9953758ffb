// Which candidates of a line are gated now. Candidate k is the merge of the first k tasks that
// wait. A gate that starts early only brings the verdict on its tree sooner: the rules of landing
// stay the same.

/** The state of one tree: `red` after one try. */
export type Known = 'green' | 'red' | 'running' | null;

export interface SpeculationFacts {
  /** For each waiting task in order, how likely its work passes, from 0 to 1. */
  readonly odds: readonly number[];
  /** The state of the merge of the first k tasks, at k - 1. */
  readonly prefixes: readonly Known[];
  /** The state of the merge of all tasks but this one. */
  readonly without: readonly Known[];
  /** Gates of this line that run on other trees. */
  readonly others: number;
  /** Most gates that this line may run at once now. */
  readonly places: number;
  /** Most candidates at once that build on each other. */
  readonly window: number;
  /** How long the gate takes (ms). */
  readonly gateMs: number;
}

export interface Candidate {
  /** The merge of so many tasks. */
  readonly through: number;
  /** Except this one, or null for all of them. */
  readonly without: number | null;
}

export type SpeculationStep =
  | { readonly kind: 'land'; readonly through: number }
  /** The first task is red by itself. */
  | { readonly kind: 'alone' }
  | {
      readonly kind: 'gates';
      readonly start: readonly Candidate[];
      /** Their gates tell nothing any more. */
      readonly stop: readonly Candidate[];
      /** One more task would start one more gate, or be part of the next ones. */
      readonly isOpen: boolean;
    };

/** Earlier gates of one agent's tasks in one epic. */
export interface PastGates {
  readonly runs: number;
  readonly passes: number;
}

/** Between certain ends, so that one run decides nothing. */
export function oddsOf({ runs, passes }: PastGates): number {
  return (passes + 1) / (runs + 2);
}

/** Behind a task that is less likely to pass, nothing is gated early. */
const likely = 0.5;
/** A gate that is shorter than this (ms) is over before another one would help. */
export const shortGateMs = 5_000;
const earlyAtStart = 3;

/** With the first candidate. */
export function windowAtStart(most: number): number {
  return 1 + Math.max(0, Math.min(earlyAtStart, most - 1));
}

export function windowAfter(end: 'landed' | 'red', window: number, most: number): number {
  return end === 'landed'
    ? Math.max(1, Math.min(window + 1, most))
    : Math.max(1, Math.floor(window / 2));
}

/** The default of `[gate] parallel`; `cores` null: unknown. */
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
  // What stops has its place until it has ended.
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

/** The lengths at which it is so. */
function placesOf(all: readonly Known[], known: Known): number[] {
  return all.flatMap((one, at) => (one === known ? [at + 1] : []));
}

/** Nothing is red: takes all waiting work, on top of the candidates that are being gated. */
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

/** An early candidate ends before a task that would probably spoil it. */
function nextEnd(odds: readonly number[], last: number): number {
  if (last === 0) return odds.length;
  const doubtful = odds.findIndex((one, at) => at >= last && one < likely);
  return doubtful === -1 ? odds.length : Math.max(doubtful, last + 1);
}

/**
 * One of the first `red` tasks is the culprit: searches for it, and for the work that lands without
 * it.
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
