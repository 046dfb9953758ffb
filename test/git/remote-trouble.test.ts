// A shared remote that is unreachable, dies midway, refuses or hangs: no answer is mistaken for
// another one.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type GitFailure, type GitResult, GitRefusal } from '../../server/git/port.ts';
import { openRemote } from '../../server/git/remote/remote.ts';
import { kindOf, leftoversOf, valueOf } from './fixture.ts';
import { commitOn, type Fleet, type Machine, makeFleet, openMachine } from './remote-fixture.ts';

const land = 'refs/drover/land/main';
const main = 'refs/heads/main';

function failureIn(result: GitResult<unknown>): GitFailure {
  assert.ok(!result.ok, 'it should have failed');
  return result.error;
}

/** Kills the server's own process for this push, so the client gets no answer. */
const dies = 'kill -9 $PPID; exit 1';
/** Only the first time. */
const diesOnce = `mkdir "$GIT_DIR/died" 2>/dev/null || exit 0\n${dies}`;

for (const kind of ['file', 'server'] as const) {
  suite(`git: a push without an answer (${kind})`, () => {
    let fleet: Fleet;
    let one: Machine;
    let base: string;
    let next: string;
    setup(async () => {
      fleet = await makeFleet(kind);
      one = await fleet.machine('one');
      base = fleet.remote('rev-parse', 'main');
      valueOf(await one.shared.updateRef(land, base, null, 'begin'));
      next = commitOn(one, base, 'next');
    });
    teardown(() => fleet.remove());

    const movesOf = (ref: string): number => fleet.remote('reflog', 'show', ref).split('\n').length;

    test('a push that succeeded counts, and is not repeated', async () => {
      valueOf(await one.shared.ownLine('main'));
      fleet.hook('post-receive', dies);
      valueOf(await one.shared.updateRef(land, next, base, 'drover: land', 'owner'));
      assert.equal(fleet.remoteRef(land), next);
      assert.equal(movesOf(land), 2);
      fleet.hook('post-receive', null);
      const third = commitOn(one, next, 'third');
      valueOf(await one.shared.updateRef(land, third, next, 'drover: land', 'owner'));
    });

    test('a push that did not happen is retried', async () => {
      fleet.hook('pre-receive', diesOnce);
      valueOf(await one.shared.updateRef(land, next, base, 'x'));
      assert.equal(fleet.remoteRef(land), next);
    });

    test('a push that succeeded before someone else moved on is stale', async () => {
      const two = await fleet.machine('two');
      const other = commitOn(two, base, 'other');
      two.git('push', '-q', 'origin', `${other}:refs/heads/other`);
      fleet.hook('post-receive', `git update-ref ${land} ${other}; ${dies}`);
      assert.equal(kindOf(await one.shared.updateRef(land, next, base, 'x')), 'stale');
      assert.equal(fleet.remoteRef(land), other);
    });

    test('a push that never gets through is a temporary failure after a few tries', async () => {
      fleet.hook('pre-receive', dies);
      const failure = failureIn(await one.shared.updateRef(land, next, base, 'x'));
      assert.deepEqual([failure.kind, failure.retryable], ['failed', true]);
      assert.match(failure.message, /the remote origin is unreachable/);
      assert.equal(fleet.remoteRef(land), base);
    });

    test('a push that a hook refuses shows its message and the remedy, and is not retried', async () => {
      fleet.hook('pre-receive', 'echo "ask Ada first" >&2; exit 1');
      const failure = failureIn(await one.shared.updateRef(land, next, base, 'x'));
      assert.deepEqual([failure.kind, failure.retryable], ['refused', false]);
      assert.match(
        failure.message,
        /refused refs\/drover\/land\/main .*ask Ada first.*Remedy: let/,
      );
      assert.equal(fleet.remoteRef(land), base);
    });
  });
}

suite('git: a server that disappears and returns', () => {
  let fleet: Fleet;
  let one: Machine;
  let base: string;
  setup(async () => {
    fleet = await makeFleet('server');
    one = await fleet.machine('one');
    base = fleet.remote('rev-parse', 'main');
    valueOf(await one.shared.updateRef(land, base, null, 'begin'));
  });
  teardown(() => fleet.remove());

  const server = (): NonNullable<Fleet['server']> => fleet.server ?? assert.fail('no server');

  /** Starts the server when this many git processes have failed to reach it. */
  function startingAt(count: number): Promise<Machine> {
    let tries = 0;
    return openMachine(
      fleet.fixture,
      one,
      'one',
      { pausesMs: [100, 300, 1_000, 2_000, 4_000] },
      {
        elsewhere: ({ args }) => {
          if (args.includes('fetch') || args.includes('ls-remote')) tries += 1;
          if (tries === count) void server().start();
          if (tries >= count) tries = -1_000;
          return null;
        },
      },
    );
  }

  test('while it is unreachable, no caller learns that a ref does not exist, and later everything works', async () => {
    const next = commitOn(one, base, 'next');
    await server().stop();
    for (const ref of [land, main, 'refs/heads/drover/t-1/1', 'refs/drover/land/none']) {
      await assert.rejects(one.shared.readRef(ref), (error: unknown) => {
        assert.ok(error instanceof GitRefusal);
        assert.equal(error.failure.retryable, true);
        assert.match(error.message, /the remote origin is unreachable/);
        return true;
      });
    }
    const answers = await Promise.all([
      one.shared.updateRef(land, next, base, 'x'),
      one.shared.ownLine('main'),
      one.shared.follow(main, next, 'fast-forward'),
      one.shared.treeOf('0123456789012345678901234567890123456789'),
    ]);
    for (const answer of answers) {
      const failure = failureIn(answer);
      assert.deepEqual([failure.kind, failure.retryable], ['failed', true], failure.message);
    }
    // Work that needs no remote continues.
    assert.equal(await one.shared.isAncestor(base, next), true);
    await server().start();
    assert.equal(await one.shared.readRef('refs/drover/land/none'), null);
    valueOf(await one.shared.updateRef(land, next, base, 'x'));
  });

  test('no caller notices an outage that ends before the tries are used up', async () => {
    const next = commitOn(one, base, 'next');
    await server().stop();
    const reader = await startingAt(2);
    assert.equal(await reader.shared.readRef(land), base);
    await server().stop();
    const writer = await startingAt(2);
    valueOf(await writer.shared.updateRef(land, next, base, 'x'));
    assert.equal(fleet.remoteRef(land), next);
  });

  test('if it disappears before it answers a landing, the owner learns the outcome when it returns', async () => {
    valueOf(await one.shared.ownLine('main'));
    const next = commitOn(one, base, 'next');
    fleet.hook('post-receive', 'kill -9 -$(ps -o pgid= -p $$ | tr -d " ")');
    const failure = failureIn(await one.shared.updateRef(land, next, base, 'land', 'owner'));
    assert.deepEqual([failure.kind, failure.retryable], ['failed', true]);
    fleet.hook('post-receive', null);
    await server().start();
    assert.equal(fleet.remoteRef(land), next);
    valueOf(await one.shared.updateRef(land, next, base, 'land', 'owner'));
    const third = commitOn(one, next, 'third');
    valueOf(await one.shared.updateRef(land, third, next, 'land', 'owner'));
    assert.equal(fleet.remoteRef(land), third);
  });

  test('work that is committed during the outage stays here, and the next try pushes it', async () => {
    const task = { path: join(one.slots, 't-1'), branch: 'drover/t-1/1', base };
    const slot = {
      path: task.path,
      branch: task.branch,
      sha: base,
      sparse: null,
      use: 'task' as const,
    };
    valueOf(await one.shared.prepareSlot({ ...slot, keepBranch: false, dropIgnored: false }));
    fleet.fixture.write(join(task.path, 'a.txt'), 'a\n');
    await server().stop();
    const failure = failureIn(await one.shared.commitLeftovers(leftoversOf(task)));
    assert.equal(failure.retryable, true);
    const commit = one.git('rev-parse', 'drover/t-1/1');
    assert.notEqual(commit, base);
    assert.equal(await one.shared.readRef('refs/heads/drover/t-1/1'), commit);
    await server().start();
    assert.equal(valueOf(await one.shared.commitLeftovers(leftoversOf(task))).commit, commit);
    assert.equal(fleet.remoteRef('refs/heads/drover/t-1/1'), commit);
  });

  test('if it is killed repeatedly under two machines, every reported landing has landed', async () => {
    let pushes = 0;
    let restarts = Promise.resolve();
    const restart = async (): Promise<void> => {
      await server().stop();
      await server().start();
    };
    const elsewhere = ({ args }: { readonly args: readonly string[] }): null => {
      if (args.includes('push')) pushes += 1;
      if (args.includes('push') && pushes % 4 === 0) restarts = restarts.then(restart);
      return null;
    };
    const options = { pausesMs: [100, 200, 400, 800] };
    const clones = [one, fleet.clone('two')];
    const machines = await Promise.all(
      clones.map((clone, index) =>
        openMachine(fleet.fixture, clone, `m${String(index)}`, options, { elsewhere }),
      ),
    );
    const landed: string[] = [];
    const land5 = async (machine: Machine): Promise<void> => {
      for (let round = 0; round < 5; round += 1) {
        if (!(await machine.shared.ownLine('main')).ok) continue;
        const tip = await machine.shared.readRef(land).catch(() => null);
        if (tip === null) continue;
        const next = commitOn(machine, tip, `${machine.root} ${String(round)}`);
        const done = await machine.shared.updateRef(land, next, tip, 'land', 'owner');
        if (done.ok) landed.push(next);
      }
    };
    await Promise.all(machines.map(land5));
    await restarts;
    const held = fleet.remote('rev-list', land).split('\n');
    assert.ok(landed.length > 0);
    assert.deepEqual(
      landed.filter((sha) => !held.includes(sha)),
      [],
    );
    fleet.remote('fsck', '--no-dangling');
  });
});

suite('git: a silent server', () => {
  test('Drover gives up after a while', async () => {
    const fleet = await makeFleet('file');
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    try {
      const { port } = silent.address() as AddressInfo;
      const clone = fleet.clone('one');
      clone.git('remote', 'set-url', 'origin', `git://127.0.0.1:${String(port)}/x.git`);
      const one = await openMachine(fleet.fixture, clone, 'one', {
        timeoutMs: 300,
        pausesMs: [10],
      });
      await assert.rejects(one.shared.readRef(land), /took too long/);
      const base = one.git('rev-parse', 'main');
      const failure = failureIn(await one.shared.updateRef(land, base, null, 'x'));
      assert.deepEqual([failure.kind, failure.retryable], ['failed', true]);
    } finally {
      silent.close();
      await fleet.remove();
    }
  });
});

suite('git: a worktree whose machine died while creating it', () => {
  let fleet: Fleet;
  let one: Machine;
  setup(async () => {
    fleet = await makeFleet('file');
    one = await fleet.machine('one');
  });
  teardown(() => fleet.remove());

  /** Leaves the entry of a `git worktree add` that was killed before it wrote the commit. */
  function leaveHalfMade(ageMs: number): { readonly entry: string; readonly folder: string } {
    const folder = join(one.slots, 'slot-1');
    const entry = join(one.root, '.git', 'worktrees', 'slot-1');
    mkdirSync(folder, { recursive: true });
    mkdirSync(entry, { recursive: true });
    writeFileSync(join(entry, 'locked'), 'initializing\n');
    writeFileSync(join(entry, 'gitdir'), `${join(folder, '.git')}\n`);
    writeFileSync(join(entry, 'commondir'), '../..\n');
    writeFileSync(join(entry, 'HEAD'), `${'0'.repeat(40)}\n`);
    const time = new Date(Date.now() - ageMs);
    utimesSync(join(entry, 'HEAD'), time, time);
    return { entry, folder };
  }

  /** A line that has moved on elsewhere, so its commit must be fetched. */
  function moveElsewhere(name = 'two'): string {
    const other = fleet.clone(name);
    const moved = other.commit(`${name}.txt`, name);
    other.git('push', '-q', '-f', 'origin', `${moved}:${land}`);
    return moved;
  }

  test('it does not block the remote, and its slot is created again', async () => {
    const { entry } = leaveHalfMade(60_000);
    const moved = moveElsewhere();
    assert.throws(() => one.git('fetch', 'origin', land), /bad object/);
    assert.equal(await one.shared.readRef(land), moved);
    assert.equal(existsSync(entry), false);
    const path = join(one.slots, 'slot-1');
    const request = { path, branch: 'drover/t/1', sha: moved, keepBranch: false };
    const prepared = await one.shared.prepareSlot({
      ...request,
      dropIgnored: false,
      sparse: null,
      use: 'task',
    });
    assert.equal(valueOf(prepared).created, true);
    assert.equal(one.git('-C', path, 'rev-parse', 'HEAD'), moved);
  });

  test('its slot is repaired even if nothing must be fetched', async () => {
    leaveHalfMade(60_000);
    const sha = one.git('rev-parse', 'main');
    const path = join(one.slots, 'slot-1');
    const request = { path, branch: 'drover/t/1', sha, keepBranch: false };
    valueOf(
      await one.local.prepareSlot({ ...request, dropIgnored: false, sparse: null, use: 'task' }),
    );
    assert.equal(one.git('-C', path, 'rev-parse', 'HEAD'), sha);
    assert.equal(one.git('-C', path, 'status', '--porcelain'), '');
    moveElsewhere();
    one.git('fetch', 'origin', land);
  });

  test('a worktree whose creation may still be in progress, or that contains a file, is left alone', async () => {
    const { entry, folder } = leaveHalfMade(-60_000);
    const remote = openRemote(one.local.context, {
      remote: 'origin',
      timeoutMs: 20_000,
      pausesMs: [],
    });
    moveElsewhere('two');
    assert.equal(failureIn(await remote.fetch([`${land}:refs/drover/seen`], [])).retryable, true);
    assert.ok(existsSync(entry));
    leaveHalfMade(60_000);
    writeFileSync(join(folder, 'mine.txt'), 'mine');
    assert.equal(failureIn(await remote.fetch([`${land}:refs/drover/seen`], [])).retryable, true);
    assert.ok(existsSync(entry));
  });
});
