// Planted faults, which show that the simulation would find each of them.

import assert from 'node:assert/strict';
import { sized } from '../tier.ts';
import { faultNamed, plantedFaults } from './faults.ts';
import { runSeed } from './run-seed.ts';
import { simulate } from './simulate.ts';

/** A planted fault must be found within this many seeds. */
const seedsMax = 400;
const around = 5;

suite('simulation with a planted fault', function () {
  this.timeout(2_400_000);

  for (const [name, { breaks, seed }] of Object.entries(plantedFaults)) {
    test(`a fault is found: ${name}`, async () => {
      const known = sized(seed, undefined);
      const found = (await breakOf(name, known)) ?? (await firstBreak(name, rangesFor(known)));
      assert.ok(
        (breaks as readonly string[]).includes(found.invariant),
        `${found.invariant} is broken instead of ${breaks.join(', ')}`,
      );
      // The search for another seed takes a minute of CPU time; the runner prints this line at its
      // end.
      if (found.seed !== seed) {
        const was = `seed ${seed} does not break ${name} any more, seed ${found.seed} does`;
        console.log(`note: ${was}: write it into test/simulation/faults.ts`);
      }
    });
  }
});

interface Break {
  readonly seed: number;
  readonly invariant: string;
}

/** In this process, because starting a separate one would take most of a seed's time. */
async function breakOf(fault: string, seed: number | undefined): Promise<Break | null> {
  if (seed === undefined) return null;
  const { invariant } = await runSeed(seed, faultNamed(fault));
  return invariant === null ? null : { seed, invariant };
}

type Range = readonly [from: number, seeds: number];

/** Seeds near the known one come first. */
function rangesFor(seed: number | undefined): readonly Range[] {
  const all: Range = [1, seedsMax];
  return seed === undefined ? [all] : [[Math.max(1, seed - around), 2 * around + 1], all];
}

async function firstBreak(fault: string, ranges: readonly Range[]): Promise<Break> {
  let last = '';
  for (const [from, seeds] of ranges) {
    const { output } = await simulate([
      '--from',
      `${from}`,
      '--seeds',
      `${seeds}`,
      '--fault',
      fault,
    ]);
    const [, seed, invariant] = /^seed (\d+) breaks \[([a-z-]+)\]/m.exec(output) ?? [];
    if (invariant !== undefined) return { seed: Number(seed), invariant };
    last = output.slice(-500);
  }
  assert.fail(`not found within ${seedsMax} seeds\n${last}`);
}
