// The faults that the neighbour test has to find can still be planted.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { plantedFaults } from '../../neighbours/faults.ts';

const root = join(import.meta.dirname, '..', '..', '..');
/** A planted fault must be found within this many schedules. */
const seedsMax = 200;

suite('planted faults of the neighbour test', () => {
  for (const [name, { file, find, replace, seed }] of Object.entries(plantedFaults)) {
    test(`${name} can be planted`, () => {
      const text = readFileSync(join(root, file), 'utf8');
      assert.equal(text.split(find).length, 2, `${file} does not hold once: ${find}`);
      assert.notEqual(find, replace);
      assert.ok(seed === undefined || (seed >= 1 && seed <= seedsMax));
    });
  }
});
