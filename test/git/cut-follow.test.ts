// What a killed git of ours leaves locked does not stop the next backend; what others hold is left alone.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { followMark } from '../../server/git/moves/cut-follow.ts';
import type { FollowOutcome } from '../../server/git/port.ts';
import { type Fixture, kindOf, makeFixture, valueOf } from './fixture.ts';

suite('git: locks of a killed backend', () => {
  let fixture: Fixture;
  let tip: string;
  setup(() => {
    fixture = makeFixture();
    fixture.git('checkout', '-q', '--detach');
    fixture.write(join(fixture.root, 'new.txt'), 'a new file that lands\n');
    fixture.write(join(fixture.root, 'README.md'), 'one\ntwo, changed\nthree\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'landed');
    tip = fixture.git('rev-parse', 'HEAD');
    fixture.git('checkout', '-q', 'main');
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
    const path = followMark(inGit('.'), 'refs/heads/main');
    writeFileSync(path, `${fixture.git('rev-parse', 'main')} ${tip}\n`);
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

  test('index.lock that is still the copy of the index, with its time, is removed', async () => {
    const { mtimeMs } = statSync(inGit('index'));
    mark(Date.now() - 1_000);
    writeFileSync(inGit('index.lock'), readFileSync(inGit('index')));
    for (const name of ['index', 'index.lock'])
      utimesSync(inGit(name), mtimeMs / 1000 - 60, mtimeMs / 1000 - 60);
    assert.equal((await follow()).kind, 'followed');
    assert.equal(existsSync(inGit('index.lock')), false);
    assert.equal(fixture.git('status', '--porcelain'), '');
  });

  test('a branch that is checked out nowhere', async () => {
    fixture.git('checkout', '-q', '-b', 'other');
    mark(Date.now() - agoMs);
    lock('refs/heads/main.lock', Date.now() - agoMs + 200);
    assert.equal((await follow()).kind, 'followed');
  });

  for (const [what, text] of [
    ['whole', 'a new file that lands\n'],
    ['half', 'a new file t'],
    ['empty', ''],
  ] as const) {
    test(`files that the cut follow had written (${what}) are written again`, async () => {
      mark(Date.now() - 1_000);
      lock('index.lock', Date.now());
      fixture.write(join(fixture.root, 'new.txt'), text);
      fixture.write(join(fixture.root, 'README.md'), 'one\ntwo, changed\nthree\n'.slice(0, 6));
      assert.equal((await follow()).kind, 'followed');
      assert.equal(fixture.git('status', '--porcelain'), '');
      assert.equal(fixture.git('rev-parse', 'main'), tip);
    });
  }

  for (const [what, isFinished] of [
    ['whole', true],
    ['gone', false],
  ] as const) {
    for (const isLater of [false, true]) {
      const later = isLater ? ', under a later commit' : '';
      test(`a branch that had moved before the cut gets its index (its lock is ${what})${later}`, async () => {
        mark(Date.now() - 1_000);
        fixture.write(join(fixture.root, 'own.txt'), 'staged by a person\n');
        fixture.git('add', 'own.txt');
        const index = readFileSync(inGit('index'));
        fixture.git('merge', '-q', '--ff-only', tip);
        if (isFinished) writeFileSync(inGit('index.lock'), readFileSync(inGit('index')));
        writeFileSync(inGit('index'), index);
        const tree = fixture.git('rev-parse', `${tip}^{tree}`);
        const next = isLater ? fixture.git('commit-tree', '-m', 'next', '-p', tip, tree) : tip;
        const repository = await fixture.open();
        const outcome = valueOf(await repository.follow('main', next, 'fast-forward'));
        assert.equal(outcome.kind, 'followed');
        assert.equal(fixture.git('status', '--porcelain'), 'A  own.txt');
        assert.equal(fixture.git('rev-parse', 'main'), next);
        assert.equal(existsSync(inGit('index.lock')), false);
      });
    }
  }

  test('a file of the user in the way stays, also behind a mark', async () => {
    mark(Date.now() - 1_000);
    const mine = join(fixture.root, 'new.txt');
    fixture.write(mine, 'mine');
    assert.equal((await follow()).kind, 'pending');
    assert.equal(readFileSync(mine, 'utf8'), 'mine');
  });

  test('a follow leaves no mark behind, whether it moves or not', async () => {
    fixture.write(join(fixture.root, 'README.md'), 'mine');
    assert.equal((await follow()).kind, 'pending');
    assert.equal(existsSync(followMark(inGit('.'), 'refs/heads/main')), false);
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
