// Takes the next step for the work that waits for a line: merges it, runs the gates of candidates
// in parallel, and resolves with the first decision. Moves nothing.

import {
  type Candidate,
  decide,
  type Known,
  shortGateMs,
  type SpeculationFacts,
} from '../../core/line/speculate.ts';
import { hasMoreLandings, type LandingRow } from '../../store/port.ts';
import { mergeTargetForLanding, type LandingHead } from '../line/line.ts';
import { buildChain, type Chain, type Link } from './chain.ts';
import { type EarlyGates, type GatingLine, nameOf } from './early-gates.ts';
import { type LandingBatch, nothingBuilt } from './landing-batch.ts';
import { placesFor } from './running-gates.ts';
import { gatesNeeded, type TestedMerge } from './test-merge.ts';
import type { Uses } from '../kit/engine-ports.ts';

type Building = GatingLine & Uses<'earlierUntilMs'>;

interface Place {
  readonly line: string;
  /** Older red verdicts (Unix ms) are ignored. */
  readonly redSinceMs: number;
  /** Whether more work may join. */
  readonly takesMore: boolean;
}

/** The commit that the candidates are merged onto. */
interface Start {
  readonly place: Place;
  readonly head: LandingHead;
}

export async function nextLanding(
  engine: Building,
  rows: readonly LandingRow[],
  place: Place,
  gates: EarlyGates,
  stop: AbortSignal,
): Promise<LandingBatch> {
  const found = await mergeTargetForLanding(engine, place.line);
  if (!found.ok) return { ...nothingBuilt, problem: found.error };
  // Without a gate for this batch, users' new commits are left to a landing that tests them.
  const isGated = rows.some((row) => row.gate_command !== null);
  const { tip } = found.value;
  const head = isGated ? found.value : { tip, head: tip, includes: null };
  gates.keepRows(rows);
  for (;;) {
    const waiting = rows.filter((row) => !gates.isAside(row));
    const on = { line: place.line, start: head.head };
    const chain = await buildChain(engine, waiting, on, gates.merges);
    if (chain.problem !== null) return { ...nothingBuilt, problem: chain.problem };
    const { conflicts, unmergeable, held } = chain;
    if (conflicts.length + unmergeable.length + held.length > 0)
      return { ...nothingBuilt, tip, conflicts, unmergeable, held, problem: null };
    if (!isGated) return landingOf(head, chain.links, { kind: 'none' });
    const at = { place, head };
    const prefixes = await mergesOf(engine, at, chain);
    const decided = await new Candidates(engine, at, chain, prefixes, gates).decided(stop);
    if (decided !== null) return decided;
  }
}

/** The line's new tip is that of the last link that adds to it. */
function landingOf(
  { tip, head, includes }: LandingHead,
  links: readonly Link[],
  verdict: LandingBatch['verdict'],
): LandingBatch {
  const last = links.at(-1);
  const next = last === undefined || last.head === tip ? last?.commit : last.head;
  const merged = links.map(({ row, commit, tree }) => ({ row, commit, tree }));
  const built = { ...nothingBuilt, tip, includes, start: head, merged, verdict, problem: null };
  return next === undefined ? built : { ...built, next };
}

/** The merge of the first k links is at index k - 1. */
async function mergesOf(
  engine: Building,
  start: Start,
  { links }: Chain,
): Promise<readonly TestedMerge[]> {
  const merges: TestedMerge[] = [];
  for (const [at] of links.entries())
    merges.push(await mergeOf(engine, start, links.slice(0, at + 1)));
  return merges;
}

async function mergeOf(
  engine: Building,
  { place: { line, redSinceMs }, head: { head, tip } }: Start,
  links: readonly Link[],
): Promise<TestedMerge> {
  const last = links.at(-1);
  const rows = links.map(({ row }) => row);
  const [commit, tree, base] = [last?.head ?? head, last?.tree ?? '', links.at(-2)?.head ?? head];
  const gates = await gatesNeeded(engine, rows, { tip, commit });
  return { line, redSinceMs, commit, tree, base, rows, ...gates };
}

/** The candidates of one chain. */
class Candidates {
  readonly #engine: Building;
  readonly #place: Place;
  readonly #head: LandingHead;
  readonly #chain: Chain;
  readonly #gates: EarlyGates;
  readonly #prefixes: readonly TestedMerge[];
  /**
   * For each task's place, the merge without that task, which may be red. Null if the others cannot
   * be merged without it.
   */
  readonly #without = new Map<number, TestedMerge | null>();

  constructor(
    engine: Building,
    { place, head }: Start,
    chain: Chain,
    prefixes: readonly TestedMerge[],
    gates: EarlyGates,
  ) {
    this.#engine = engine;
    this.#place = place;
    this.#head = head;
    this.#chain = chain;
    this.#gates = gates;
    this.#prefixes = prefixes;
  }

  /** Resolves with null if the chain has changed. */
  async decided(stop: AbortSignal): Promise<LandingBatch | null> {
    const gates = this.#gates;
    for (;;) {
      if (stop.aborted) return this.#landing([], { kind: 'aborted' });
      const changed = gates.changed;
      const ended = this.#asideEnded();
      if (ended !== undefined) return ended;
      gates.startAsides(placesFor(this.#engine, gates.running.length));
      const unusable = this.#unusable();
      if (unusable !== null) return unusable;
      const known = await this.#known();
      gates.keepOnly(this.#wanted());
      const step = decide(await this.#facts(known));
      switch (step.kind) {
        case 'land':
          return this.#land(step.through);
        case 'alone': {
          const [link, merge] = [this.#chain.links[0], this.#prefixes[0]];
          if (link !== undefined && merge !== undefined) gates.setAside(link, merge);
          return null;
        }
        case 'gates': {
          const isOpen = step.isOpen && this.#place.takesMore;
          if (isOpen && (await this.#hasMore())) return this.#landing([], { kind: 'more' });
          const stopped: (TestedMerge | null)[] = [];
          for (const one of step.stop) stopped.push(await this.#candidate(one));
          gates.keepOnly(this.#wanted().filter((merge) => !stopped.includes(merge)));
          for (const one of step.start) {
            const merge = await this.#candidate(one);
            if (merge !== null) gates.start(merge, one.without !== null);
          }
          if (step.start.length > 0) continue;
          await this.#wait(changed, isOpen, stop);
        }
      }
    }
  }

  async #candidate({ through, without }: Candidate): Promise<TestedMerge | null> {
    if (without === null) return this.#prefixes[through - 1] ?? null;
    const known = this.#without.get(without);
    if (known !== undefined) return known;
    const made = await this.#makeWithout(through, without);
    this.#without.set(without, made);
    return made;
  }

  /** Resolves with null if the others cannot be merged without the task. */
  async #makeWithout(through: number, without: number): Promise<TestedMerge | null> {
    const on = { line: this.#place.line, start: this.#head.head };
    const links = this.#chain.links.slice(0, through).filter((_, at) => at !== without);
    const rows = links.map(({ row }) => row);
    const chain = await buildChain(this.#engine, rows, on, this.#gates.merges);
    if (chain.links.length < rows.length) return null;
    return mergeOf(this.#engine, { place: this.#place, head: this.#head }, chain.links);
  }

  /** A guess made before a task landed or joined may be the same merge as one of the new chain. */
  async #adoptGuesses(): Promise<void> {
    for (const guess of this.#gates.guesses) {
      const positions = new Set(guess.rows.map(({ position }) => position));
      const links = this.#chain.links;
      const through = links.findLastIndex(({ row }) => positions.has(row.position)) + 1;
      const missing = links.slice(0, through).findIndex(({ row }) => !positions.has(row.position));
      if (missing === -1 || this.#without.has(missing)) continue;
      const made = await this.#makeWithout(through, missing);
      if (made !== null && nameOf(made) === nameOf(guess)) this.#without.set(missing, made);
    }
  }

  #landing(links: readonly Link[], verdict: LandingBatch['verdict']): LandingBatch {
    return landingOf(this.#head, links, verdict);
  }

  async #land(through: number): Promise<LandingBatch> {
    const merge = this.#prefixes[through - 1];
    const verdict = merge === undefined ? null : this.#gates.verdictOf(merge);
    if (merge === undefined || verdict === null) throw new Error('no verdict on what lands');
    this.#gates.use(merge);
    this.#gates.ended('landed');
    if (merge.skipped.length > 0) await this.#tellSkipped(merge);
    return this.#landing(this.#chain.links.slice(0, through), verdict);
  }

  async #tellSkipped({ rows, tree, skipped }: TestedMerge): Promise<void> {
    const { store } = this.#engine;
    const data = {
      task_ids: rows.map(({ task_id: id }) => id),
      tree,
      stages: skipped.map(({ name, paths }) => ({ name, paths })),
    };
    await store.transaction((tx) => store.append(tx, { type: 'gate.skipped', data }));
  }

  /**
   * Undefined if no second try has ended. Null if one was green, so that its task waits with the
   * others again.
   */
  #asideEnded(): LandingBatch | null | undefined {
    for (const aside of this.#gates.asides) {
      const { verdict, error } = aside.gate ?? { verdict: null, error: null };
      if (error !== null) throw error;
      if (verdict === null) continue;
      this.#gates.takeBack(aside);
      if (verdict.kind === 'green' || verdict.kind === 'aborted') return null;
      return this.#landing([aside.link], verdict);
    }
    return undefined;
  }

  /** A folder that cannot be prepared affects all work, unless only an early gate needed it. */
  #unusable(): LandingBatch | null {
    for (const merge of this.#wanted()) {
      const verdict = this.#gates.verdictOf(merge);
      if (verdict?.kind !== 'unusable' && verdict?.kind !== 'aborted') continue;
      this.#gates.keepOnly(this.#wanted().filter((one) => one !== merge));
      if (verdict.kind === 'aborted') continue;
      if (this.#gates.running.length === 0) return this.#landing(this.#chain.links, verdict);
      this.#gates.ended('unusable');
    }
    return null;
  }

  #wanted(): readonly TestedMerge[] {
    const guesses = [...this.#without.values()].filter((merge) => merge !== null);
    return [...this.#prefixes, ...guesses];
  }

  async #known(): Promise<Pick<SpeculationFacts, 'prefixes' | 'without'>> {
    const prefixes: Known[] = [];
    for (const merge of this.#prefixes) prefixes.push(await this.#gates.knownOf(merge));
    await this.#adoptGuesses();
    const without: Known[] = prefixes.map(() => null);
    for (const [at, merge] of this.#without)
      // Work that cannot be merged is not a candidate.
      without[at] = merge === null ? 'red' : await this.#gates.knownOf(merge);
    return { prefixes, without };
  }

  async #facts(known: Pick<SpeculationFacts, 'prefixes' | 'without'>): Promise<SpeculationFacts> {
    const gates = this.#gates;
    const rows = this.#chain.links.map(({ row }) => row);
    const places = placesFor(this.#engine, gates.running.length);
    const odds: number[] = [];
    for (const row of rows) odds.push(places > 1 ? await gates.oddsOf(row) : 1);
    return {
      ...known,
      odds,
      others: gates.asides.length,
      places,
      window: gates.window,
      gateMs: await gates.gateMs([...new Set(this.#prefixes.flatMap(({ needed }) => needed))]),
    };
  }

  #hasMore(): Promise<boolean> {
    return hasMoreLandings(this.#engine.store.db, this.#place.line);
  }

  async #wait(changed: Promise<void>, isOpen: boolean, stop: AbortSignal): Promise<void> {
    const { clock, store } = this.#engine;
    const woken = Promise.withResolvers<void>();
    const wake = (): void => woken.resolve();
    stop.addEventListener('abort', wake);
    const off = isOpen ? store.feed.onAppend(wake) : null;
    const offTimer = clock.timer(shortGateMs, wake);
    try {
      if (isOpen && (await this.#hasMore())) return;
      await Promise.race([changed, woken.promise]);
    } finally {
      stop.removeEventListener('abort', wake);
      off?.();
      offTimer();
    }
  }
}
