// What a killed git of ours leaves locked does not stop the next backend; what others hold is left alone.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { followMark } from '../../server/git/own-locks.ts';
import type { FollowOutcome } from '../../server/git/port.ts';
import { type Fixture, kindOf, makeFixture, valueOf } from './fixture.ts';

suite('git: locks of a killed backend', () => {
  let fixture: Fixture;
  let tip: string;
  setup(() => {
    fixture = makeFixture();
    const tree = fixture.git('rev-parse', 'main^{tree}');
    tip = fixture.git('commit-tree', '-p', 'main', '-m', 'landed', tree);
  });
  teardown(() => fixture.remove());

  const inGit = (name: string): string => join(fixture.root, '.git', name);
  function lock(name: string, atMs = Date.now()): string {
    const path = inGit(name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, '');
    utimesSync(path, atMs / 1000, atMs / 1000);
    return path;
  }
  function mark(atMs: number): string {
    const path = followMark({ commonDir: inGit('.') }, 'refs/heads/main');
    writeFileSync(path, '');
    utimesSync(path, atMs / 1000, atMs / 1000);
    return path;
  }
  async function follow(): Promise<FollowOutcome> {
    const repository = await fixture.open();
    return valueOf(await repository.follow('refs/heads/main', tip, 'fast-forward'));
  }
  const agoMs = 5 * 60_000;

  for (const name of ['index.lock', 'HEAD.lock', 'refs/heads/main.lock']) {
    test(`${name} of a follow that was cut is removed`, async () => {
      const marked = mark(Date.now() - agoMs);
      const left = lock(name, Date.now() - agoMs + 200);
      assert.equal((await follow()).kind, 'followed');
      assert.deepEqual([existsSync(marked), existsSync(left)], [false, false]);
      assert.equal(fixture.git('rev-parse', 'main'), tip);
      assert.equal(fixture.git('status', '--porcelain'), '');
    });

    test(`${name} without a mark is somebody's`, async () => {
      const left = lock(name, Date.now() - agoMs);
      assert.equal((await follow()).kind, 'pending');
      assert.equal(existsSync(left), true);
    });

    test(`${name} from before the follow is somebody's`, async () => {
      mark(Date.now() - agoMs);
      const left = lock(name, Date.now() - agoMs - 60_000);
      assert.equal((await follow()).kind, 'pending');
      assert.equal(existsSync(left), true);
    });
  }

  test('a branch that is checked out nowhere', async () => {
    fixture.git('checkout', '-q', '-b', 'other');
    mark(Date.now() - agoMs);
    lock('refs/heads/main.lock', Date.now() - agoMs + 200);
    assert.equal((await follow()).kind, 'followed');
  });

  test('a follow leaves no mark behind, whether it moves or not', async () => {
    fixture.write(join(fixture.root, 'README.md'), 'mine');
    assert.equal((await follow()).kind, 'followed');
    assert.equal(existsSync(followMark({ commonDir: inGit('.') }, 'refs/heads/main')), false);
  });

  test('old locks of our own refs are removed, young ones are waited for', async () => {
    const repository = await fixture.open();
    const base = fixture.git('rev-parse', 'main');
    for (const ref of ['refs/drover/land/main', 'refs/heads/drover/results/main']) {
      lock(`${ref}.lock`);
      const moved = await repository.updateRef(ref, base, null, 'test');
      assert.equal(kindOf(moved), 'ok', ref);
    }
    lock('refs/heads/mine.lock', Date.now() - agoMs);
    const refused = await repository.updateRef('refs/heads/mine', base, null, 'test');
    assert.equal(kindOf(refused), 'locked');
  });
});
