// Which releases of a fleet hand out work while it is upgraded machine by machine.

import assert from 'node:assert/strict';
import { leadingNumber } from '../../../server/core/compatibility.ts';

suite('compatibility', () => {
  const machine = (compatibility: number, agentsMax = 2, isDraining = false) => ({
    compatibility,
    agentsMax,
    isDraining,
  });

  test('the newest release that takes tasks leads, but a clone without agents or a draining machine does not', () => {
    assert.equal(leadingNumber([machine(1), machine(1)]), 1);
    assert.equal(leadingNumber([machine(1), machine(2), machine(1)]), 2);
    assert.equal(leadingNumber([machine(1), machine(2, 0)]), 1);
    assert.equal(leadingNumber([machine(1), machine(2, 2, true)]), 1);
    assert.equal(leadingNumber([machine(1, 0)]), null);
  });
});
