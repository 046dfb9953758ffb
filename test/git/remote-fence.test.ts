// Which machine lands on a shared line: an owner that was replaced cannot land, even if everything
// else matches.

import assert from 'node:assert/strict';
import { fenceRef } from '../../server/git/remote/names.ts';
import { kindOf, valueOf } from './fixture.ts';
import { commitOn, type Fleet, type Machine, makeFleet, openMachine } from './remote-fixture.ts';
import { sized } from '../tier.ts';

const land = 'refs/drover/land/main';

for (const kind of sized<readonly ('file' | 'server')[]>(['server'], ['file', 'server'])) {
  suite(`git: the fence of a line (${kind})`, () => {
    let fleet: Fleet;
    let one: Machine;
    let two: Machine;
    let base: string;
    setup(async () => {
      fleet = await makeFleet(kind);
      [one, two] = await Promise.all([fleet.machine('one'), fleet.machine('two')]);
      base = fleet.remote('rev-parse', 'main');
      valueOf(await one.shared.updateRef(land, base, null, 'begin'));
    });
    teardown(() => fleet.remove());

    test('an owner that was replaced cannot land, even if its lease on the landing ref matches', async () => {
      valueOf(await one.shared.ownLine('main'));
      valueOf(await two.shared.ownLine('main'));
      const next = commitOn(one, base, 'late');
      const refused = await one.shared.updateRef(land, next, base, 'drover: land', 'owner');
      assert.equal(kindOf(refused), 'stale');
      assert.equal(fleet.remoteRef(land), base);
      // A replaced owner stays locked out until it takes the line again.
      const again = await one.shared.updateRef(land, next, base, 'drover: land', 'owner');
      assert.equal(kindOf(again), 'failed');
      assert.equal(fleet.remoteRef(land), base);
      valueOf(await one.shared.ownLine('main'));
      valueOf(await one.shared.updateRef(land, next, base, 'drover: land', 'owner'));
      assert.equal(fleet.remoteRef(land), next);
      const twos = await two.shared.updateRef(land, base, next, 'drover: land', 'owner');
      assert.equal(kindOf(twos), 'stale');
    });

    test('its owner can land repeatedly, and each landing changes the fence', async () => {
      valueOf(await one.shared.ownLine('main'));
      const seen = new Set([fleet.remoteRef(fenceRef('main'))]);
      let tip = base;
      for (let index = 0; index < 3; index += 1) {
        valueOf(await one.shared.ownLine('main'));
        const next = commitOn(one, tip, `landing ${index}`);
        valueOf(await one.shared.updateRef(land, next, tip, 'drover: land', 'owner'));
        tip = next;
        seen.add(fleet.remoteRef(fenceRef('main')));
      }
      assert.equal(fleet.remoteRef(land), tip);
      assert.equal(seen.size, 4);
      const words = fleet.remote('cat-file', 'blob', fenceRef('main'));
      assert.match(words, /^machine one\nprocess \d+ [0-9a-f-]{36}\ncount \d+$/);
    });

    test("any machine can merge people's commits while another machine owns the line", async () => {
      valueOf(await one.shared.ownLine('main'));
      const theirs = commitOn(two, base, 'theirs');
      valueOf(await two.shared.updateRef(land, theirs, base, 'drover: take in main'));
      assert.equal(fleet.remoteRef(land), theirs);
      const stale = await one.shared.updateRef(land, base, base, 'drover: land', 'owner');
      assert.equal(kindOf(stale), 'stale');
      const next = commitOn(two, theirs, 'next');
      two.git('push', '-q', 'origin', `${next}:refs/heads/elsewhere`);
      one.git('fetch', '-q');
      valueOf(await one.shared.updateRef(land, next, theirs, 'drover: land', 'owner'));
    });

    test('only the owner of the line can land on it', async () => {
      const next = commitOn(one, base, 'next');
      const refused = await one.shared.updateRef(land, next, base, 'drover: land', 'owner');
      assert.equal(kindOf(refused), 'failed');
      assert.equal(fleet.remoteRef(land), base);
    });

    test('machines that land in turns replace each other, and notice it before they build anything', async () => {
      let tip = base;
      for (let round = 0; round < 3; round += 1) {
        for (const machine of [one, two]) {
          valueOf(await machine.shared.ownLine('main'));
          assert.equal(await machine.shared.readRef(land), tip);
          const next = commitOn(machine, tip, `round ${round}`);
          valueOf(await machine.shared.updateRef(land, next, tip, 'drover: land', 'owner'));
          tip = next;
        }
      }
      assert.equal(fleet.remoteRef(land), tip);
    });

    test('lines are independent', async () => {
      valueOf(await one.shared.ownLine('main'));
      valueOf(await two.shared.ownLine('drover/epic/e1'));
      const next = commitOn(one, base, 'next');
      valueOf(await one.shared.updateRef(land, next, base, 'drover: land', 'owner'));
    });

    test('if two processes take the line at once, the last one lands', async () => {
      for (let round = 0; round < 5; round += 1) {
        const taken = await Promise.all([one.shared.ownLine('main'), two.shared.ownLine('main')]);
        assert.deepEqual(taken.map(kindOf), ['ok', 'ok']);
        const tip = fleet.remote('rev-parse', land);
        const landed = await Promise.all(
          [one, two].map((machine) => {
            machine.git('fetch', '-q', 'origin', 'refs/drover/land/main');
            const next = commitOn(machine, tip, `${machine.root} ${round}`);
            return machine.shared.updateRef(land, next, tip, 'drover: land', 'owner');
          }),
        );
        assert.deepEqual(landed.map(kindOf).toSorted(), ['ok', 'stale']);
      }
    });

    test('a machine that restarts takes over its own line', async () => {
      valueOf(await one.shared.ownLine('main'));
      const reborn = await openMachine(fleet.fixture, one, 'one');
      valueOf(await reborn.shared.ownLine('main'));
      const next = commitOn(one, base, 'next');
      const dead = await one.shared.updateRef(land, next, base, 'drover: land', 'owner');
      assert.equal(kindOf(dead), 'stale');
      valueOf(await reborn.shared.updateRef(land, next, base, 'drover: land', 'owner'));
    });
  });
}
