// Random histories of several processes on one store, some of which die or are suspended; the title
// contains a failing seed.

import assert from 'node:assert/strict';
import type { Transaction } from 'kysely';
import { createEmbeddedDurable } from '../../server/durable/embedded/embedded.ts';
import type { Clock, Durable } from '../../server/durable/port.ts';
import { openTestDatabase, type TestTables } from './embedded-harness.ts';
import { ManualClock } from './manual-clock.ts';

const seeds = 25;
const workflows = 12;
const stepsOfEach = 4;
const leaseMs = 9_000;
const concurrency = 5;
const perProcess = 3;

/**
 * A small pseudo-random number generator that gives the same numbers for the same seed
 * (mulberry32).
 */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Fate = 'alive' | 'dead' | 'standing still';

class World {
  readonly clock = new ManualClock();
  readonly random: (below: number) => number;
  readonly fates = new Map<string, Fate>();
  readonly adapters = new Map<string, Durable<Transaction<TestTables>>>();
  /** `workflow step` of everything that was stored. */
  readonly stored = new Set<string>();
  readonly broken: string[] = [];
  /** Bodies of running steps in living processes: `workflow` by process. */
  readonly live = new Map<string, Set<string>>();

  constructor(seed: number) {
    this.random = chance(seed);
  }

  /** The clock as a process sees it: a dead or suspended process receives nothing. */
  clockOf(id: string): Clock {
    return {
      now: () => this.clock.now(),
      timer: (delayMs, callback) =>
        this.clock.timer(delayMs, () => {
          if (this.fates.get(id) === 'alive') callback();
        }),
    };
  }

  /**
   * A step's body: takes several seconds, and never returns in a process that has died in the
   * meantime.
   */
  async work(id: string, workflow: string, step: string): Promise<string> {
    const name = `${workflow} ${step}`;
    if (this.stored.has(name)) this.broken.push(`${name} is run again`);
    const mine = this.live.get(id) ?? new Set();
    this.live.set(id, mine);
    mine.add(workflow);
    this.checkLimits(workflow);
    await new Promise<void>((resolve) => {
      this.clock.timer(1 + this.random(4_000), () => {
        if (this.fates.get(id) !== 'dead') resolve();
      });
    });
    mine.delete(workflow);
    return `${name} by ${id}`;
  }

  checkLimits(workflow: string): void {
    const living = [...this.live].filter(([id]) => this.fates.get(id) === 'alive');
    const running = living.map(([, names]) => names.size).reduce((a, b) => a + b, 0);
    if (running > concurrency) this.broken.push(`${running} run at once`);
    if (living.some(([, names]) => names.size > perProcess)) this.broken.push('too many in one');
    const holders = living.filter(([, names]) => names.has(workflow));
    if (holders.length > 1) this.broken.push(`${workflow} is run by two`);
  }

  end(id: string, fate: Fate): void {
    this.fates.set(id, fate);
    if (fate === 'dead') this.live.delete(id);
  }
}

suite('embedded: random histories', () => {
  for (let seed = 1; seed <= seeds; seed += 1) {
    test(`seed ${seed}`, () => runHistory(seed));
  }
});

async function runHistory(seed: number): Promise<void> {
  const world = new World(seed);
  const database = await openTestDatabase(':memory:');
  const launch = async (id: string): Promise<void> => {
    const adapter = createEmbeddedDurable({
      db: database.db,
      clock: world.clockOf(id),
      processId: id,
      isProcessAlive: (other) => world.fates.get(other) !== 'dead',
      leaseMs,
      crashPoint: (workflow, step) => world.stored.add(`${workflow} ${step}`),
    });
    adapter.queue('q', { concurrency, perProcess });
    adapter.workflow('work', async (run) => {
      for (let n = 1; n <= stepsOfEach; n += 1) {
        await run.step(`s${n}`, () => world.work(id, run.workflowId, `s${n}`));
      }
      return 'done';
    });
    world.fates.set(id, 'alive');
    world.adapters.set(id, adapter);
    await adapter.launch();
  };

  await launch('p0');
  await launch('p1');
  const first = world.adapters.get('p0');
  for (let n = 0; n < workflows; n += 1) {
    await first?.start('work', `w${n}`, null, { queue: 'q', priority: world.random(3) });
  }
  for (let next = 2; next < 8; next += 1) {
    await world.clock.advance(500 + world.random(6_000));
    const alive = [...world.fates].filter(([, fate]) => fate === 'alive').map(([id]) => id);
    const victim = alive[world.random(alive.length)];
    if (victim !== undefined) world.end(victim, world.random(3) > 0 ? 'dead' : 'standing still');
    await launch(`p${next}`);
  }
  await world.clock.advance(300_000);

  const states = await database.db
    .selectFrom('workflows')
    .select(['id', 'state', 'result'])
    .execute();
  const unfinished = states.filter(({ state }) => state !== 'succeeded').map(({ id }) => id);
  assert.deepEqual([unfinished, world.broken], [[], []]);
  assert.equal(states.length, workflows);
  assert.equal(world.stored.size, workflows * stepsOfEach);
  await database.close();
}
