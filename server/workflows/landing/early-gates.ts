// The parallel gates of one landing. Only this process knows them, but their green verdicts are
// stored by tree, so another process that continues the landing finds those.

import { gateCommands } from '../../core/settings/gate-stages.ts';
import { type Known, oddsOf, windowAfter, windowAtStart } from '../../core/line/speculate.ts';
import {
  gateVerdict,
  type LandingRow,
  lastGateDurationMs,
  noteRunningGates,
  readPastGates,
} from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { KnownMerges, type Link } from './chain.ts';
import type { LandingBatch } from './landing-batch.ts';
import { gatesOf, mostGates } from './running-gates.ts';
import { commandsOf, type TestedMerge, type TestingBatch, testMerge } from './test-merge.ts';

export type GatingLine = TestingBatch & Uses<'clock' | 'host' | 'report' | 'settings' | 'store'>;
type Verdict = LandingBatch['verdict'];

interface RunningGate {
  readonly merge: TestedMerge;
  readonly startedMs: number;
  readonly stop: AbortController;
  /** Null while the gate runs. */
  verdict: Verdict | null;
  error: unknown;
  ms: number;
  /** Whether a decision was based on its verdict. */
  isUsed: boolean;
  /** Whether it omits a task that may be red. */
  readonly isGuess: boolean;
  readonly isSecond: boolean;
  ended: Promise<void>;
}

/** A task that failed the gate by itself once and gets a second try. */
export interface Aside {
  readonly link: Link;
  readonly merge: TestedMerge;
  /** Null until a place is free. */
  gate: RunningGate | null;
}

export class EarlyGates {
  readonly merges = new KnownMerges();
  readonly #engine: GatingLine;
  readonly #signal: AbortSignal;
  readonly #gates = new Map<string, RunningGate>();
  readonly #asides = new Map<number, Aside>();
  readonly #green = new Map<string, Verdict | null>();
  readonly #odds = new Map<number, number>();
  readonly #ending = new Set<Promise<void>>();
  /** Tasks whose gates have started or ended since the running gates were last stored. */
  readonly #touched = new Set<string>();
  #isNoting = false;
  #changed = Promise.withResolvers<void>();
  #window: number;

  /** Aborting `signal` stops all gates. */
  constructor(engine: GatingLine, signal: AbortSignal) {
    this.#engine = engine;
    this.#signal = signal;
    this.#window = windowAtStart(mostGates(engine));
  }

  get window(): number {
    return this.#window;
  }

  get asides(): readonly Aside[] {
    return [...this.#asides.values()];
  }

  /** Gates that are running. */
  get running(): readonly RunningGate[] {
    const asides = this.asides.flatMap(({ gate }) => gate ?? []);
    return [...this.#gates.values(), ...asides].filter(
      ({ verdict, error }) => verdict === null && error === null,
    );
  }

  /** Resolves when the next gate ends. */
  get changed(): Promise<void> {
    return this.#changed.promise;
  }

  /** Adjusts the window to the result. With a window of one, no candidate builds on another. */
  ended(how: 'landed' | 'red' | 'unusable'): void {
    this.#window = how === 'unusable' ? 1 : windowAfter(how, this.#window, mostGates(this.#engine));
  }

  get guesses(): readonly TestedMerge[] {
    return [...this.#gates.values()].filter(({ isGuess }) => isGuess).map(({ merge }) => merge);
  }

  start(merge: TestedMerge, isGuess: boolean): void {
    this.#gates.set(nameOf(merge), this.#run(merge, 'first', isGuess));
  }

  /** Schedules a second try for a task whose first gate was red, beside the other gates. */
  setAside(link: Link, merge: TestedMerge): void {
    const gate = this.#gates.get(nameOf(merge));
    const first = gate?.verdict;
    this.#gates.delete(nameOf(merge));
    const isFinal = first?.kind === 'red_base' || (first?.kind === 'red' && first.isFinal === true);
    const known = gate !== undefined && isFinal ? gate : null;
    this.#asides.set(link.row.position, { link, merge, gate: known });
  }

  /** Second tries take precedence over early gates. */
  startAsides(places: number): void {
    for (const aside of this.asides) {
      if (aside.gate !== null || this.running.length >= places) continue;
      aside.gate = this.#run(aside.merge, 'again', false);
    }
  }

  /** Ends the second try. A green verdict counts for its tree. */
  takeBack({ link, merge, gate }: Aside): void {
    this.#asides.delete(link.row.position);
    if (gate?.verdict?.kind === 'green') this.#gates.set(nameOf(merge), gate);
  }

  isAside(row: LandingRow): boolean {
    return this.#asides.has(row.position);
  }

  /** The verdict on the tree of this merge; null if none is known. */
  verdictOf(merge: TestedMerge): Verdict | null {
    const gate = this.#gates.get(nameOf(merge));
    return gate?.verdict ?? this.#green.get(verdictName(merge)) ?? null;
  }

  async knownOf(merge: TestedMerge): Promise<Known> {
    const name = nameOf(merge);
    const gate = this.#gates.get(name);
    if (gate?.error !== undefined && gate.error !== null) throw gate.error;
    if (gate !== undefined) {
      if (gate.verdict === null) return 'running';
      if (gate.verdict.kind !== 'green') return gate.isUsed ? 'red' : null;
      if (covers(gate.merge, merge)) return 'green';
      // That gate skipped a stage that the same tree needs on the current tip.
      this.#gates.delete(name);
    }
    const key = verdictName(merge);
    if (!this.#green.has(key)) this.#green.set(key, await storedGreen(this.#engine, merge));
    return this.#green.get(key) === null ? null : 'green';
  }

  /** Cancels all other gates and forgets their verdicts. */
  keepOnly(merges: readonly TestedMerge[]): void {
    const names = new Set(merges.map(nameOf));
    for (const [name, gate] of this.#gates) {
      if (names.has(name)) continue;
      this.#gates.delete(name);
      this.#drop(gate);
    }
  }

  keepRows(rows: readonly LandingRow[]): void {
    const positions = new Set(rows.map(({ position }) => position));
    for (const [position, { gate }] of this.#asides) {
      if (positions.has(position)) continue;
      this.#asides.delete(position);
      if (gate !== null) this.#drop(gate);
    }
  }

  /** Records that a decision was based on the verdict of this merge. */
  use(merge: TestedMerge): void {
    const gate = this.#gates.get(nameOf(merge));
    if (gate !== undefined) gate.isUsed = true;
  }

  async oddsOf(row: LandingRow): Promise<number> {
    const known = this.#odds.get(row.position);
    if (known !== undefined) return known;
    const odds = oddsOf(await readPastGates(this.#engine.store.db, row.task_id));
    this.#odds.set(row.position, odds);
    return odds;
  }

  /** How long the gate takes, as far as known. */
  async gateMs(gates: readonly string[]): Promise<number> {
    const nowMs = this.#engine.clock.now();
    const times = this.running.map(({ startedMs }) => nowMs - startedMs);
    for (const gate of gates)
      times.push((await lastGateDurationMs(this.#engine.store.db, gate)) ?? 0);
    return Math.max(0, ...times);
  }

  /** Cancels all gates. Resolves when their processes have ended. */
  async end(): Promise<void> {
    this.keepOnly([]);
    this.keepRows([]);
    await Promise.all(this.#ending);
  }

  #run(merge: TestedMerge, look: 'first' | 'again', isGuess: boolean): RunningGate {
    const startedMs = this.#engine.clock.now();
    const stop = new AbortController();
    const gate: RunningGate = {
      merge,
      startedMs,
      stop,
      verdict: null,
      error: null,
      ms: 0,
      isUsed: false,
      isGuess,
      isSecond: look === 'again',
      ended: Promise.resolve(),
    };
    this.#note(merge);
    const signal = AbortSignal.any([this.#signal, stop.signal]);
    const places = gatesOf(this.#engine);
    const ending = places
      .whileRunning(() => testMerge(this.#engine, merge, look, signal))
      .then(
        (verdict) => {
          gate.verdict = verdict;
          gate.isUsed = verdict.kind === 'red' || verdict.kind === 'red_base';
          if (gate.isUsed && look === 'first') this.ended('red');
        },
        (error: unknown) => {
          gate.error = error;
        },
      );
    gate.ended = ending.then(() => {
      gate.ms = this.#engine.clock.now() - startedMs;
      const { resolve } = this.#changed;
      this.#changed = Promise.withResolvers();
      resolve();
      this.#note(merge);
    });
    return gate;
  }

  /** Stores the running gates in the background, so that no verdict waits for it. */
  #note({ line, rows }: TestedMerge): void {
    for (const { task_id: id } of rows) this.#touched.add(id);
    if (this.#isNoting) return;
    this.#isNoting = true;
    const noted = this.#noteRunning(line)
      .catch((error: unknown) => this.#engine.report(error, 'noting which gates run'))
      .finally(() => this.#ending.delete(noted));
    this.#ending.add(noted);
  }

  /** Repeats until nothing has changed since the last write. */
  async #noteRunning(line: string): Promise<void> {
    const { store } = this.#engine;
    try {
      while (this.#touched.size > 0 && !this.#signal.aborted) {
        // Gates that start or end together are written together.
        await Promise.resolve();
        const touched = [...this.#touched];
        this.#touched.clear();
        const running = this.running.map(({ merge, startedMs, isSecond }) => ({
          task_ids: merge.rows.map(({ task_id: id }) => id),
          since_ms: startedMs,
          is_second: isSecond,
        }));
        await store.transaction((tx) =>
          noteRunningGates(tx, store.sources, line, running, touched),
        );
      }
    } finally {
      this.#isNoting = false;
    }
  }

  #drop(gate: RunningGate): void {
    gate.stop.abort(new Error('the gate is not needed any more'));
    if (gate.verdict === null && gate.error === null) this.#note(gate.merge);
    const told = gate.ended
      .then(() => this.#tellUnused(gate))
      .catch((error: unknown) => this.#engine.report(error, 'the end of a gate'))
      .finally(() => this.#ending.delete(told));
    this.#ending.add(told);
  }

  async #tellUnused({ merge, ms, isUsed, verdict }: RunningGate): Promise<void> {
    if (isUsed || this.#signal.aborted) return;
    const data = {
      task_ids: merge.rows.map(({ task_id: id }) => id),
      tree: merge.tree,
      duration_ms: Math.round(ms),
      finished: verdict !== null && verdict.kind !== 'aborted',
    };
    const { store } = this.#engine;
    await store.transaction((tx) => store.append(tx, { type: 'gate.unused', data }));
  }
}

/** Merges with the same key share one gate. */
export function nameOf({ tree, rows }: TestedMerge): string {
  return [tree, ...commandsOf(rows)].join('\n');
}

/**
 * Merges with the same key share one verdict. The key contains the stages, because the tip decides
 * which of them a tree needs.
 */
function verdictName(merge: TestedMerge): string {
  return [nameOf(merge), ...merge.needed].join('\n');
}

function covers(tested: TestedMerge, wanted: TestedMerge): boolean {
  const ran = new Set(tested.needed.flatMap(gateCommands));
  return wanted.needed.flatMap(gateCommands).every((command) => ran.has(command));
}

/** Returns null unless every command is known to be green on the tree. */
async function storedGreen(
  { store }: Uses<'store'>,
  { tree, needed }: TestedMerge,
): Promise<Verdict | null> {
  let flaky = false;
  for (const gate of needed) {
    const known = await gateVerdict(store.db, tree, gate);
    if (known?.ok !== 1) return null;
    flaky ||= known.flaky === 1;
  }
  return { kind: 'green', flaky };
}
