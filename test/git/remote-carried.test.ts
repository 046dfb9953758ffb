// A commit of a machine whose remote does not answer: the carrier brings it to the other machines,
// and the remote gets it later.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { eventually } from '../e2e/support/eventually.ts';
import type { CarriedPack, Carrier } from '../../server/git/remote/carried-work.ts';
import { leftoversOf, valueOf } from './fixture.ts';
import { type Fleet, type Machine, makeFleet } from './remote-fixture.ts';

const branch = 'drover/t-1/1';

suite('git: finished work of a machine that cannot push', () => {
  let fleet: Fleet;
  let carried: CarriedPack[];
  let isTaken: boolean;
  let one: Machine;
  let two: Machine;
  let base: string;
  let path: string;
  setup(async () => {
    fleet = await makeFleet('server');
    carried = [];
    isTaken = true;
    const carrier: Carrier = {
      put: (work) => {
        if (isTaken) carried.push(work);
        return Promise.resolve(isTaken);
      },
      get: (sha) => Promise.resolve(carried.find(({ commit }) => commit === sha)?.pack ?? null),
    };
    one = await fleet.machine('one', { carrier, againMs: 60_000 });
    two = await fleet.machine('two', { carrier });
    base = fleet.remote('rev-parse', 'main');
    path = join(one.slots, 't-1');
    const more = { keepBranch: false, dropIgnored: false, sparse: null, use: 'task' } as const;
    valueOf(await one.shared.prepareSlot({ path, branch, sha: base, ...more }));
  });
  teardown(() => fleet.remove());

  const server = (): NonNullable<Fleet['server']> => fleet.server ?? assert.fail('no server');
  const commit = () => one.shared.commitLeftovers(leftoversOf({ path, branch, base }));
  const isOnRemote = (sha: string): boolean => fleet.remoteRef(`refs/heads/${branch}`) === sha;

  test('another machine merges it, and its branch reaches the remote once the remote answers', async () => {
    fleet.fixture.write(join(path, 'a.txt'), 'work\n');
    await server().stop();
    const done = valueOf(await commit());
    assert.deepEqual(
      carried.map((work) => [work.attempt, work.commit]),
      [['t-1/1', done.commit]],
    );
    assert.match(one.reports.join('\n'), /goes to the other machines through the database/);
    await one.shared.settled();
    await server().start();
    assert.equal(
      valueOf(await two.shared.treeOf(done.commit)),
      one.git('rev-parse', `${done.commit}^{tree}`),
    );
    two.git('merge', '-q', '--no-edit', done.commit);
    assert.equal(two.git('fsck', '--connectivity-only'), '');
    assert.ok(!isOnRemote(done.commit));
    // The next snapshot without changes tries again.
    const label = 't-1/1';
    valueOf(await one.shared.snapshot({ path, label, base, reason: 'found', author: 'agent' }));
    await eventually('the first one pushes it', () => isOnRemote(done.commit));
  });

  test('without another machine that can land it, it waits here', async () => {
    isTaken = false;
    fleet.fixture.write(join(path, 'a.txt'), 'work\n');
    await server().stop();
    const done = await commit();
    assert.ok(!done.ok && done.error.isAway === true);
    assert.equal(done.error.made?.commit, one.git('rev-parse', branch));
  });

  test('a commit with a secret stays on this machine', async () => {
    fleet.fixture.write(join(path, '.env'), 'TOKEN=1\n');
    fleet.fixture.gitIn(path, 'add', '-f', '.env');
    fleet.fixture.gitIn(path, 'commit', '-qm', 'a secret');
    await server().stop();
    valueOf(await commit());
    assert.deepEqual(carried, []);
  });
});
