// Gates that run early change when work lands, but never which work lands, in which order and as
// which tree.

import assert from 'node:assert/strict';
import { sized } from '../tier.ts';
import { landingsOf } from './landings-of.ts';

const seeds = sized(6, 2_000);

suite('early gates in the simulation', function () {
  this.timeout(2_400_000);

  test(`${seeds} seeds land the same work with one gate at a time and with four`, async () => {
    let mostGates = 0;
    let landed = 0;
    let red = 0;
    for (let seed = 1; seed <= seeds; seed += 1) {
      const { mostGates: one, ...alone } = await landingsOf(seed, 1);
      const { mostGates: four, ...early } = await landingsOf(seed, 4);
      assert.deepEqual(early, alone, `seed ${seed}`);
      assert.equal(one, 1);
      mostGates = Math.max(mostGates, four);
      landed += alone.landed.length;
      red += alone.statuses.filter((status) => status.endsWith('gate_failed')).length;
    }
    assert.equal(mostGates, 4);
    assert.ok(landed > seeds && red > seeds / 2, `${landed} landed, ${red} were red`);
  });
});
