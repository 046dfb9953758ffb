// Counts the gates that run in this process for all lines. An early gate starts only if no line
// needs the place.

import { parallelGates } from '../../core/line/speculate.ts';
import { MadeOnce } from '../../core/made-once.ts';
import { hostHold } from '../../core/work/host-limits.ts';
import type { Reads } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';

export class RunningGates {
  #count = 0;

  get count(): number {
    return this.#count;
  }

  async whileRunning<T>(body: () => Promise<T>): Promise<T> {
    this.#count += 1;
    try {
      return await body();
    } finally {
      this.#count -= 1;
    }
  }
}

const all = new MadeOnce<Reads, RunningGates>();

export function gatesOf(engine: Uses<'store'>): RunningGates {
  return all.of(engine.store.db, () => new RunningGates());
}

/** Maximum number of parallel gates on this machine. */
export function mostGates(engine: Uses<'host' | 'settings'>): number {
  return engine.settings().gateParallel ?? parallelGates(engine.host()?.cores ?? null);
}

/** The number of places for a line that already runs `own` gates. Its first gate always has one. */
export function placesFor(engine: Uses<'host' | 'settings' | 'store'>, own: number): number {
  const facts = engine.host();
  const isLow = facts !== null && hostHold(facts, engine.settings().machine, 1) !== null;
  const spare = isLow ? 0 : mostGates(engine) - gatesOf(engine).count;
  return Math.max(1, own + spare);
}
