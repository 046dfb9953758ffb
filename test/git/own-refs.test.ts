// Refs that are moved without a process: as git would move them, or by git.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RepositoryContext } from '../../server/git/context.ts';
import type { GitRepository, GitResult } from '../../server/git/port.ts';
import { updateRefs } from '../../server/git/refs/refs.ts';
import { makeFixture, valueOf, type Fixture } from './fixture.ts';

const exec = promisify(execFile);
const ref = 'refs/drover/work/t1/1';

suite('git: refs moved here', () => {
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

  /** The last line first. */
  function logOf(branch: string): string[] {
    const file = join(fixture.root, '.git', 'logs', 'refs', 'heads', branch);
    return readFileSync(file, 'utf8').trimEnd().split('\n').toReversed();
  }

  async function opened(): Promise<{
    readonly context: RepositoryContext;
    readonly repository: GitRepository;
  }> {
    const repository = valueOf(await fixture.adapter().open(fixture.root));
    return { context: repository.context, repository };
  }

  function locks(): string[] {
    const names = readdirSync(join(fixture.root, '.git', 'refs'), { recursive: true });
    return names.map(String).filter((name) => name.endsWith('.lock'));
  }

  function move(
    repository: GitRepository,
    name: string,
    next: string | null,
    old: string | null,
  ): Promise<GitResult<void>> {
    return repository.updateRefs([{ ref: name, next, old }], 'test');
  }

  test('are made and moved, packed or not', async () => {
    const repository = await fixture.open();
    fixture.git('pack-refs', '--all');
    let old: string | null = null;
    for (const isPacked of [false, false, true, false]) {
      const next: string = commit();
      if (isPacked) fixture.git('pack-refs', '--all');
      valueOf(await move(repository, ref, next, old));
      assert.equal(valueIn(ref), next);
      assert.equal(await repository.readRef(ref), next);
      old = next;
    }
    assert.deepEqual(locks(), []);
    assert.equal(fixture.git('fsck', '--no-dangling'), '');
  });

  test('stay where someone else has moved them', async () => {
    const repository = await fixture.open();
    const [first, second, third] = [commit(), commit(), commit()];
    valueOf(await move(repository, ref, first, null));
    for (const old of [null, third]) {
      const done = await move(repository, ref, second, old);
      assert.ok(!done.ok && done.error.kind === 'stale', JSON.stringify(done));
      assert.equal(valueIn(ref), first);
    }
    fixture.git('pack-refs', '--all');
    const done = await move(repository, ref, second, null);
    assert.ok(!done.ok && done.error.kind === 'stale');
    assert.deepEqual(locks(), []);
  });

  for (const isPacked of [false, true]) {
    const how = isPacked ? 'packed' : 'loose';
    test(`do not come beside a ${how} one in whose folder they would be, or the other way round`, async () => {
      const repository = await fixture.open();
      for (const [there, wanted] of [
        ['refs/drover/work/a', 'refs/drover/work/a/b'],
        ['refs/drover/work/c/d', 'refs/drover/work/c'],
      ] as const) {
        valueOf(await move(repository, there, commit(), null));
        if (isPacked) fixture.git('pack-refs', '--all');
        const done = await move(repository, wanted, commit(), null);
        assert.ok(!done.ok, wanted);
        assert.equal(valueIn(wanted), there.startsWith(wanted) ? valueIn(there) : '');
      }
      assert.deepEqual(locks(), []);
    });
  }

  test('take the place of a folder that is empty', async () => {
    const repository = await fixture.open();
    const [first, next] = [commit(), commit()];
    valueOf(await move(repository, 'refs/drover/work/c/d', first, null));
    fixture.git('pack-refs', '--all', '--no-prune');
    valueOf(await move(repository, 'refs/drover/work/c/d', null, first));
    valueOf(await move(repository, 'refs/drover/work/c', next, null));
    assert.equal(valueIn('refs/drover/work/c'), next);
  });

  test('wait for a lock of another process, and take one that a killed process has left', async () => {
    const repository = await fixture.open();
    const [first, next] = [commit(), commit()];
    valueOf(await move(repository, ref, first, null));
    const lock = join(fixture.root, '.git', `${ref}.lock`);
    writeFileSync(lock, '');
    const longAgo = Date.now() / 1000 - 60;
    utimesSync(lock, longAgo, longAgo);
    valueOf(await move(repository, ref, next, first));
    assert.equal(valueIn(ref), next);
    assert.equal(existsSync(lock), false);
  });

  test('are left to git where they lead to another ref or have a log', async () => {
    const [first, next] = [commit(), commit()];
    fixture.git('update-ref', 'refs/drover/work/real/1', first);
    fixture.git('symbolic-ref', ref, 'refs/drover/work/real/1');
    valueOf(await move(await fixture.open(), ref, next, first));
    assert.equal(valueIn('refs/drover/work/real/1'), next);
    assert.equal(fixture.git('symbolic-ref', ref), 'refs/drover/work/real/1');
    fixture.git('config', 'core.logAllRefUpdates', 'always');
    valueOf(await move(await fixture.open(), 'refs/drover/work/t2/1', first, null));
    assert.match(fixture.git('reflog', 'show', 'refs/drover/work/t2/1'), /test/);
  });

  test('are left to git where their commit is not a file of its own', async () => {
    const repository = await fixture.open();
    const missing = '1'.repeat(40);
    const done = await move(repository, ref, missing, null);
    assert.ok(!done.ok);
    assert.equal(valueIn(ref), '');
  });

  test('a branch in no checkout moves with its log, and not while that is refused', async () => {
    const first = fixture.git('rev-parse', 'main');
    const next = commit();
    fixture.git('switch', '-q', '-c', 'aside');
    const { context } = await opened();
    const change = { ref: 'refs/heads/main', next, old: first };
    let isFree = false;
    const move = (): Promise<GitResult<void>> =>
      updateRefs(context, [change], 'drover: land', () => {
        assert.deepEqual(locks(), ['heads/main.lock']);
        return isFree;
      });
    const refused = await move();
    assert.ok(!refused.ok && refused.error.kind === 'stale');
    assert.equal(fixture.git('rev-parse', 'main'), first);
    assert.equal(fixture.git('reflog', 'show', '--format=%gs', 'main').includes('land'), false);
    assert.deepEqual(locks(), []);
    isFree = true;
    valueOf(await move());
    assert.equal(fixture.git('rev-parse', 'main'), next);
    assert.deepEqual(locks(), []);
    const [last] = logOf('main');
    fixture.git('update-ref', '-m', 'drover: land', 'refs/heads/main', first);
    fixture.git('update-ref', '-m', 'drover: land', 'refs/heads/main', next);
    const [ofGit] = logOf('main');
    const withoutTime = (line = ''): string =>
      line.replace(/^\w+ (\w+) (.*> )\d+ ([+-]\d{4})/u, '$1 $2 $3');
    assert.equal(withoutTime(last), withoutTime(ofGit));
    assert.equal(last?.split(' ')[0], first);
    assert.equal(fixture.git('fsck', '--no-dangling'), '');
  });

  test('a branch without a log is left to git', async () => {
    const first = fixture.git('rev-parse', 'main');
    const next = commit();
    fixture.git('switch', '-q', '-c', 'aside');
    rmSync(join(fixture.root, '.git', 'logs', 'refs', 'heads', 'main'));
    const { context } = await opened();
    const change = { ref: 'refs/heads/main', next, old: first };
    valueOf(await updateRefs(context, [change], 'drover: land', () => true));
    assert.equal(fixture.git('rev-parse', 'main'), next);
  });

  test('lose no move beside those who move them too and pack them', async () => {
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
          const done = await move(repository, ref, next, await repository.readRef(ref));
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
