// Drover's own refs, moved by a long-lived git process.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { GitRepository, GitResult } from '../../server/git/port.ts';
import { makeFixture, valueOf, type Fixture } from './fixture.ts';

const exec = promisify(execFile);
const ref = 'refs/drover/work/t1/1';

suite('git: own refs', () => {
  let fixture: Fixture;
  setup(() => {
    fixture = makeFixture();
  });
  teardown(() => fixture.remove());

  let count = 0;
  function commit(): string {
    count += 1;
    return fixture.git('commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', `commit ${count}`);
  }

  function valueIn(name: string): string {
    return fixture.git('for-each-ref', '--format=%(objectname)', name);
  }

  function locks(): string[] {
    const names = readdirSync(join(fixture.root, '.git', 'refs'), { recursive: true });
    return names.map(String).filter((name) => name.endsWith('.lock'));
  }

  const move = async (
    repository: GitRepository,
    name: string,
    next: string | null,
    old: string | null,
  ): Promise<{ readonly done: GitResult<void> }> => ({
    done: await repository.updateRefs([{ ref: name, next, old }], 'test'),
  });

  test('they are created and moved, packed or not', async () => {
    const repository = await fixture.open();
    fixture.git('pack-refs', '--all');
    let old: string | null = null;
    for (const isPacked of [false, false, true, false]) {
      const next: string = commit();
      if (isPacked) fixture.git('pack-refs', '--all');
      valueOf((await move(repository, ref, next, old)).done);
      assert.equal(valueIn(ref), next);
      assert.equal(await repository.readRef(ref), next);
      old = next;
    }
    assert.deepEqual(locks(), []);
    assert.equal(fixture.git('fsck', '--no-dangling'), '');
  });

  test('they stay at the commit to which someone else moved them', async () => {
    const repository = await fixture.open();
    const [first, second, third] = [commit(), commit(), commit()];
    valueOf((await move(repository, ref, first, null)).done);
    for (const old of [null, third]) {
      const { done } = await move(repository, ref, second, old);
      assert.ok(!done.ok && done.error.kind === 'stale', JSON.stringify(done));
      assert.equal(valueIn(ref), first);
    }
    fixture.git('pack-refs', '--all');
    const { done } = await move(repository, ref, second, null);
    assert.ok(!done.ok && done.error.kind === 'stale');
    assert.deepEqual(locks(), []);
  });

  for (const isPacked of [false, true]) {
    const how = isPacked ? 'packed' : 'loose';
    test(`one is not created beside a ${how} ref in whose folder it would be, or vice versa`, async () => {
      const repository = await fixture.open();
      for (const [there, wanted] of [
        ['refs/drover/work/a', 'refs/drover/work/a/b'],
        ['refs/drover/work/c/d', 'refs/drover/work/c'],
      ] as const) {
        valueOf((await move(repository, there, commit(), null)).done);
        if (isPacked) fixture.git('pack-refs', '--all');
        const { done } = await move(repository, wanted, commit(), null);
        assert.ok(!done.ok, wanted);
        assert.equal(valueIn(wanted), there.startsWith(wanted) ? valueIn(there) : '');
      }
      assert.deepEqual(locks(), []);
    });
  }

  test('one replaces an empty folder', async () => {
    const repository = await fixture.open();
    const [first, next] = [commit(), commit()];
    valueOf((await move(repository, 'refs/drover/work/c/d', first, null)).done);
    fixture.git('pack-refs', '--all', '--no-prune');
    valueOf((await move(repository, 'refs/drover/work/c/d', null, first)).done);
    valueOf((await move(repository, 'refs/drover/work/c', next, null)).done);
    assert.equal(valueIn('refs/drover/work/c'), next);
  });

  test("they wait for another process's lock, and take over one that a killed process left", async () => {
    const repository = await fixture.open();
    const [first, next] = [commit(), commit()];
    valueOf((await move(repository, ref, first, null)).done);
    const lock = join(fixture.root, '.git', `${ref}.lock`);
    writeFileSync(lock, '');
    const longAgo = Date.now() / 1000 - 60;
    utimesSync(lock, longAgo, longAgo);
    valueOf((await move(repository, ref, next, first)).done);
    assert.equal(valueIn(ref), next);
    assert.equal(existsSync(lock), false);
  });

  test('a ref that points to another ref moves that one, and a log has the reason', async () => {
    const [first, next] = [commit(), commit()];
    fixture.git('update-ref', 'refs/drover/work/real/1', first);
    fixture.git('symbolic-ref', ref, 'refs/drover/work/real/1');
    valueOf((await move(await fixture.open(), ref, next, first)).done);
    assert.equal(valueIn('refs/drover/work/real/1'), next);
    assert.equal(fixture.git('symbolic-ref', ref), 'refs/drover/work/real/1');
    fixture.git('config', 'core.logAllRefUpdates', 'always');
    valueOf((await move(await fixture.open(), 'refs/drover/work/t2/1', first, null)).done);
    assert.match(fixture.git('reflog', 'show', 'refs/drover/work/t2/1'), /test/);
  });

  test('they never name a missing commit', async () => {
    const repository = await fixture.open();
    const { done } = await move(repository, ref, '1'.repeat(40), null);
    assert.ok(!done.ok && done.error.kind === 'unknown_ref', JSON.stringify(done));
    assert.equal(valueIn(ref), '');
  });

  test('no move is lost while others move and pack them', async () => {
    const both = [await fixture.open(), await fixture.open()];
    const commits = Array.from({ length: 60 }, commit);
    let isOver = false;
    let moves = 0;
    const packing = (async () => {
      while (!isOver)
        await exec('git', ['pack-refs', '--all'], { cwd: fixture.root, env: fixture.environment });
    })();
    const moving = both.map(async (repository, side) => {
      for (const [index, next] of commits.entries()) {
        if (index % 2 !== side) continue;
        for (;;) {
          const { done } = await move(repository, ref, next, await repository.readRef(ref));
          if (done.ok) break;
          assert.ok(['stale', 'locked'].includes(done.error.kind), done.error.message);
        }
        moves += 1;
      }
    });
    await Promise.all(moving);
    isOver = true;
    await packing;
    assert.equal(moves, commits.length);
    assert.ok(commits.includes(valueIn(ref)));
    assert.deepEqual(locks(), []);
  });
});
