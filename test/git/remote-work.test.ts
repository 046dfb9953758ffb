// The pushed work of a machine of a fleet that dies permanently: its clone, with every branch and
// stash in it, is lost.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Snapshot } from '../../server/git/snapshot-port.ts';
import type { SharedOptions } from '../../server/git/remote/shared-repository.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { valueOf } from './fixture.ts';
import { type Fleet, type Machine, makeFleet } from './remote-fixture.ts';

const label = 't-1/1';
const branch = `drover/${label}`;
const ref = `refs/drover/work/${label}`;

suite('git between machines: the work of a running agent', function () {
  this.timeout(60_000);
  let fleet: Fleet;
  let one: Machine;
  let base: string;
  let path: string;

  async function begin(options: Partial<SharedOptions> = {}): Promise<void> {
    fleet = await makeFleet('server');
    one = await fleet.machine('one', options);
    base = fleet.remote('rev-parse', 'main');
    path = join(one.slots, 'slot-1');
    const more = { keepBranch: false, dropIgnored: false, sparse: null, use: 'task' } as const;
    valueOf(await one.shared.prepareSlot({ path, branch, sha: base, ...more }));
  }
  teardown(async () => {
    await one.shared.settled();
    await fleet.remove();
  });

  const look = async (reason: 'interval' | 'paused' = 'interval'): Promise<Snapshot | null> => {
    const asked = { path, label, reason, author: 'agent', base } as const;
    return valueOf(await one.shared.snapshot(asked));
  };
  const write = (text: string): void => fleet.fixture.write(join(path, 'made.txt'), text);
  const commit = (text: string): string => {
    write(text);
    one.git('-C', path, 'add', '-A');
    one.git('-C', path, 'commit', '-qm', text);
    return one.git('-C', path, 'rev-parse', 'HEAD');
  };
  const isOnRemote = (sha: string): boolean =>
    fleet.remote('rev-list', '--all').split('\n').includes(sha);

  test('commits reach the remote even if nothing else has changed', async () => {
    await begin();
    const first = commit('first\n');
    await look();
    await one.shared.settled();
    assert.equal(isOnRemote(first), true);
    const second = commit('second\n');
    assert.equal((await look())?.isNew, true);
    await one.shared.settled();
    assert.equal(isOnRemote(second), true);
    assert.equal((await look())?.isNew, false, 'the same again makes no further one');
  });

  test("an agent's stash is on the remote and stays in the agent's list", async () => {
    await begin();
    write('put aside\n');
    one.git('-C', path, 'stash', '-q', '--include-untracked');
    const stash = one.git('rev-parse', 'refs/stash');
    write('something else\n');
    await look();
    await one.shared.settled();
    assert.equal(isOnRemote(stash), true);
    assert.equal(one.git('rev-parse', 'refs/stash'), stash);
  });

  test('work that could not be pushed is pushed even if the agent has changed nothing since', async () => {
    await begin({ againMs: 600_000 });
    write('while the remote is away\n');
    await fleet.server?.stop();
    const snapshot = await look();
    await one.shared.settled();
    await fleet.server?.start();
    assert.equal(isOnRemote(snapshot?.commit ?? ''), false);
    assert.equal((await look())?.isNew, false);
    await one.shared.settled();
    assert.equal(fleet.remoteRef(ref), snapshot?.commit);
  });

  test('the last snapshot of a stopped attempt is pushed once the remote is back', async () => {
    await begin({ againMs: 100 });
    write('as it was paused\n');
    await fleet.server?.stop();
    const snapshot = await look('paused');
    await eventually('it was tried', () => one.reports.length > 0);
    await fleet.server?.start();
    await eventually('it is there', () => fleet.remoteRef(ref) === snapshot?.commit);
  });
});
