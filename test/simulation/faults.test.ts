// Planted faults, to show that the simulation would find each of them.

import assert from 'node:assert/strict';
import { sized } from '../tier.ts';
import { plantedFaults } from './faults.ts';
import { simulate } from './simulate.ts';

/** A planted fault must be found within this many seeds. */
const seedsMax = 400;
const around = 5;

suite('simulation with a planted fault', function () {
  this.timeout(2_400_000);

  for (const [name, { breaks, seed }] of Object.entries(plantedFaults)) {
    test(`a fault is found: ${name}`, async () => {
      const ranges: [from: number, seeds: number][] = [[1, seedsMax]];
      if (seed !== undefined) {
        const near: [number, number] = [Math.max(1, seed - around), 2 * around + 1];
        ranges.unshift(...sized([[seed, 1] as [number, number], near], []));
      }
      const found = await firstBreak(name, ranges);
      assert.ok(
        (breaks as readonly string[]).includes(found.invariant),
        `${found.invariant} is broken instead of ${breaks.join(', ')}`,
      );
      // The search for another seed takes a minute of CPU: the runner prints this line at its end.
      if (found.seed !== seed) {
        const was = `seed ${seed} does not break ${name} any more, seed ${found.seed} does`;
        console.log(`note: ${was}: write it into test/simulation/faults.ts`);
      }
    });
  }
});

async function firstBreak(
  fault: string,
  ranges: readonly (readonly [from: number, seeds: number])[],
): Promise<{ seed: number; invariant: string }> {
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
