// Commits of one machine that another one continues: passed on if they are available, and named
// otherwise.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { missingOnRemote } from '../../server/git/remote/missing-commits.ts';
import { kindOf, leftoversOf, snapshotRef, valueOf } from './fixture.ts';
import { commitOn, type Fleet, type Machine, makeFleet, openMachine } from './remote-fixture.ts';

const land = 'refs/drover/land/main';

suite("git between machines: other machines' commits", function () {
  this.timeout(60_000);
  let fleet: Fleet;
  let one: Machine;
  let two: Machine;
  let base: string;
  setup(async () => {
    fleet = await makeFleet('file');
    [one, two] = await Promise.all([fleet.machine('one'), fleet.machine('two')]);
    base = fleet.remote('rev-parse', 'main');
    valueOf(await one.shared.updateRef(land, base, null, 'begin'));
  });
  teardown(async () => {
    await Promise.all([one.shared.settled(), two.shared.settled()]);
    await fleet.remove();
  });

  async function slot(machine: Machine, branch: string): Promise<string> {
    const path = join(machine.slots, branch.replaceAll('/', '-'));
    const more = { keepBranch: false, dropIgnored: false, sparse: null, use: 'task' } as const;
    valueOf(await machine.shared.prepareSlot({ path, branch, sha: base, ...more }));
    return path;
  }

  test('another machine that has it in a pack hands over work that is on the remote', async () => {
    const branch = 'drover/t-1/1';
    const path = await slot(one, branch);
    fleet.fixture.write(join(path, 'new.txt'), 'new\n');
    const done = valueOf(await one.shared.commitLeftovers(leftoversOf({ path, branch, base })));
    valueOf(await two.shared.publish(branch, done.commit));
    assert.equal(fleet.remoteRef(`refs/heads/${branch}`), done.commit);
  });

  test('work that exists only in another clone is neither handed over nor landed, and the remote is not blamed', async () => {
    const commit = commitOn(one, base, 'never pushed');
    const published = await two.shared.publish('drover/t-1/1', commit);
    assert.equal(kindOf(published), 'unknown_ref');
    assert.match(
      published.ok ? '' : published.error.message,
      /^The commit [0-9a-f]{12} is neither in this clone nor on the remote origin\.$/,
    );
    const moved = await two.shared.updateRef(land, commit, base, 'drover: land');
    assert.equal(kindOf(moved), 'unknown_ref');
    assert.equal(moved.ok ? null : (moved.error.isAway ?? false), false);
    // The machine that has it is asked at once, although the other one has just searched in vain.
    valueOf(await one.shared.publish('drover/t-1/1', commit));
    valueOf(await two.shared.publish('drover/t-1/1', commit));
    valueOf(await two.shared.updateRef(land, commit, base, 'drover: land'));
  });

  test('snapshots are still pushed after git has packed the earlier ones', async () => {
    const path = await slot(one, 'drover/t-1/1');
    const keep = async (machine: Machine, text: string): Promise<string> => {
      fleet.fixture.write(join(path, 'new.txt'), text);
      const ref = (await snapshotRef(machine.shared, path, 't-1/1')) ?? '';
      await machine.shared.settled();
      return ref;
    };
    const ref = await keep(one, 'first\n');
    assert.equal(fleet.remoteRef(ref), one.git('rev-parse', ref));
    one.git('repack', '-adq');
    await keep(await openMachine(fleet.fixture, one, 'one'), 'second\n');
    assert.equal(fleet.remoteRef(ref), one.git('rev-parse', ref));

    const listed = valueOf(await two.shared.listSnapshots('t-1', [base]));
    assert.deepEqual(listed, valueOf(await one.shared.listSnapshots('t-1', [base])));
    assert.equal(listed.length, 2, 'a person sees them from every machine');
  });

  test('an attempt that changed nothing leaves no branch on the remote', async () => {
    const branch = 'drover/t-1/1';
    const path = await slot(one, branch);
    const nothing = await one.shared.commitLeftovers(leftoversOf({ path, branch, base }));
    assert.equal(valueOf(nothing).changed, false);
    assert.equal(fleet.remoteRef(`refs/heads/${branch}`), null);
    fleet.fixture.write(join(path, 'new.txt'), 'new\n');
    const { commit } = valueOf(
      await one.shared.commitLeftovers(leftoversOf({ path, branch, base })),
    );
    assert.equal(fleet.remoteRef(`refs/heads/${branch}`), commit);
  });

  test('commits that a restored remote has lost are listed, with whether this clone has them', async () => {
    const next = commitOn(one, base, 'next');
    valueOf(await one.shared.updateRef(land, next, base, 'drover: land'));
    const options = { remote: 'origin', timeoutMs: 20_000 };
    const missing = async (machine: Machine): Promise<unknown> =>
      valueOf(await missingOnRemote(machine.local, options, [base, next]));
    assert.deepEqual(await missing(one), []);
    fleet.remote('update-ref', land, base);
    assert.deepEqual(await missing(one), [{ commit: next, isHere: true }]);
    fleet.remote('gc', '-q', '--prune=now');
    const three = await fleet.machine('three');
    assert.deepEqual(await missing(three), [{ commit: next, isHere: false }]);
    one.git('push', '-q', 'origin', `${next}:refs/drover/rescue/restored/${next}`);
    assert.deepEqual(await missing(three), []);
  });
});
