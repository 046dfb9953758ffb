// Recent answers from a shared remote are reused, except for callers that need its current state.

import assert from 'node:assert/strict';
import { makeFleet } from './remote-fixture.ts';

suite('git between machines: current values', function () {
  this.timeout(60_000);

  test('a current read sees a branch at once that another machine has moved', async () => {
    const fleet = await makeFleet('file');
    try {
      const one = await fleet.machine('one', { freshMs: 3_600_000 });
      const main = 'refs/heads/main';
      const before = await one.shared.readRef(main);
      assert.equal(before, fleet.remoteRef(main));
      const other = fleet.clone('other');
      const after = other.commit('theirs.txt', 'theirs\n');
      other.git('push', '-q', 'origin', `HEAD:${main}`);
      assert.equal(await one.shared.readRef(main), before);
      assert.equal(await one.shared.readRef(main, 'now'), after);
      assert.equal(await one.shared.readRef(main), after);
    } finally {
      await fleet.remove();
    }
  });
});
