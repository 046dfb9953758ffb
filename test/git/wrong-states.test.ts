// A command of the user, or a power cut, while a checkout follows its branch: nothing is lost, the
// state is reported, and one call repairs it without touching the user's changes.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeWrongState, type WrongFiles } from '../../server/core/work/wrong-state.ts';
import type { FollowOutcome, GitRepository } from '../../server/git/port.ts';
import { landedOn, makeFixture, valueOf, type Fixture } from './fixture.ts';

const before = 'refs/drover/before/checkout';

suite('git: states that are reported', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let from: string;
  setup(async () => {
    fixture = makeFixture();
    repository = await fixture.open();
    from = main();
  });
  teardown(() => fixture.remove());

  const main = (): string => fixture.git('rev-parse', 'main');
  const status = (): string => fixture.git('status', '--porcelain');
  const land = (files: Readonly<Record<string, string>>): Promise<string> =>
    landedOn(fixture, repository, main(), files);
  const follow = async (tip: string): Promise<FollowOutcome> =>
    valueOf(await repository.follow('main', tip, 'fast-forward'));
  const inRoot = (path: string): string => join(fixture.root, path);

  async function found(to: string): Promise<WrongFiles> {
    const wrong = await repository.lookAfter('main', from, to);
    assert.ok(wrong !== null);
    return wrong;
  }

  async function cured(wrong: WrongFiles): Promise<void> {
    assert.equal(valueOf(await repository.cure('main', wrong)), null);
    assert.equal(await repository.lookAfter('main', wrong.from, wrong.to), null);
  }

  test('a switch to the branch that was running while it moved is reported', async () => {
    const tip = await land({ 'landed.txt': 'l\n', 'README.md': 'landed\n' });
    fixture.git('switch', '-q', '--detach');
    assert.equal((await follow(tip)).kind, 'followed');
    // The last write of `git switch`: files and index are the ones that it read before.
    fixture.git('symbolic-ref', 'HEAD', 'refs/heads/main');
    const wrong = await found(tip);
    assert.equal(wrong.kind, 'old');
    assert.deepEqual([...wrong.files].sort(), ['README.md', 'landed.txt']);
    assert.match(describeWrongState('main', wrong), /still has the files of .*drover follow main/);
    await cured(wrong);
    assert.equal(status(), '');
    assert.equal(readFileSync(inRoot('landed.txt'), 'utf8'), 'l\n');
  });

  test("a merge that failed and restored the previous commit's files is reported", async () => {
    const tip = await land({ 'landed.txt': 'l\n' });
    assert.equal((await follow(tip)).kind, 'followed');
    fixture.git('read-tree', '--reset', '-u', from);
    fixture.write(inRoot('mine.txt'), 'mine\n');
    fixture.git('add', 'mine.txt');
    await cured(await found(tip));
    assert.equal(status(), 'A  mine.txt');
  });

  test('a clean that removed files as they arrived is reported', async () => {
    const tip = await land({ 'landed.txt': 'l\n', 'dir/other.txt': 'o\n' });
    assert.equal((await follow(tip)).kind, 'followed');
    rmSync(inRoot('landed.txt'));
    rmSync(inRoot('dir/other.txt'));
    const wrong = await found(tip);
    assert.equal(wrong.kind, 'missing');
    assert.match(describeWrongState('main', wrong), /missing in .*landed\.txt/);
    await cured(wrong);
    assert.equal(status(), '');
  });

  test('the state is repaired under a later commit of the user, too', async () => {
    const tip = await land({ 'landed.txt': 'l\n' });
    assert.equal((await follow(tip)).kind, 'followed');
    fixture.git('read-tree', '--reset', '-u', from);
    fixture.write(inRoot('mine.txt'), 'mine\n');
    fixture.git('add', 'mine.txt');
    fixture.git('commit', '-qm', 'mine', '--', 'mine.txt');
    await cured(await found(tip));
    assert.equal(status(), '');
    assert.equal(fixture.git('show', 'HEAD:landed.txt'), 'l');
  });

  test('a file that the user has changed since is kept and not overwritten', async () => {
    const tip = await land({ 'README.md': 'landed\n' });
    assert.equal((await follow(tip)).kind, 'followed');
    fixture.git('read-tree', '--reset', '-u', from);
    const wrong = await found(tip);
    fixture.write(inRoot('README.md'), 'mine\n');
    const refused = await repository.cure('main', wrong);
    assert.ok(!refused.ok);
    assert.equal(readFileSync(inRoot('README.md'), 'utf8'), 'mine\n');
    assert.equal(fixture.git('show', `${before}:README.md`), 'mine');
  });

  test("the user's own removals and changes after a landing are not reported", async () => {
    const tip = await land({ 'one.txt': '1\n', 'two.txt': '2\n' });
    assert.equal((await follow(tip)).kind, 'followed');
    fixture.git('rm', '-q', 'one.txt');
    fixture.write(inRoot('two.txt'), 'mine\n');
    assert.equal(await repository.lookAfter('main', from, tip), null);
    fixture.git('add', '-A');
    assert.equal(await repository.lookAfter('main', from, tip), null);
  });

  test('a branch that was moved back is not checked', async () => {
    const tip = await land({ 'landed.txt': 'l\n' });
    assert.equal((await follow(tip)).kind, 'followed');
    fixture.git('reset', '-q', '--hard', from);
    assert.equal(await repository.lookAfter('main', from, tip), null);
  });

  suite('a power cut', () => {
    let tip: string;
    setup(async () => {
      tip = await land({ 'new.txt': 'a new file that lands\n', 'README.md': 'landed\n' });
    });

    for (const name of ['index.lock', 'refs/heads/main.lock'])
      test(`a remaining lock (${name}) is reported, and the branch follows once it is removed`, async () => {
        const lock = join(fixture.root, '.git', name);
        writeFileSync(lock, '');
        const outcome = await follow(tip);
        assert.match(
          outcome.kind === 'pending' ? outcome.reason : '',
          new RegExp(`${name} exists.*run "rm '.*${name}'"`),
        );
        assert.equal(main(), from);
        rmSync(lock);
        assert.equal((await follow(tip)).kind, 'followed');
        assert.equal(status(), '');
      });

    test('half-written files are reported, and the branch follows once they are restored', async () => {
      fixture.write(inRoot('new.txt'), 'a new f');
      fixture.write(inRoot('README.md'), 'lan');
      const outcome = await follow(tip);
      assert.match(
        outcome.kind === 'pending' ? outcome.reason : '',
        /in the way: (?:README\.md|new\.txt)/,
      );
      assert.equal(fixture.git('show', `${before}:new.txt`), 'a new f');
      fixture.git('checkout', '-q', 'README.md');
      rmSync(inRoot('new.txt'));
      assert.equal((await follow(tip)).kind, 'followed');
      assert.equal(status(), '');
    });

    test('files and an index that were written before the branch moved are accepted', async () => {
      fixture.git('merge', '-q', '--ff-only', tip);
      fixture.write(join(fixture.root, '.git', 'refs', 'heads', 'main'), `${from}\n`);
      assert.equal((await follow(tip)).kind, 'followed');
      assert.equal(status(), '');
    });

    test('an old index under the new commit is repaired', async () => {
      fixture.write(inRoot('own.txt'), 'staged\n');
      fixture.git('add', 'own.txt');
      const index = readFileSync(join(fixture.root, '.git', 'index'));
      assert.equal((await follow(tip)).kind, 'followed');
      writeFileSync(join(fixture.root, '.git', 'index'), index);
      await cured(await found(tip));
      assert.equal(status(), 'A  own.txt');
    });
  });

  suite('before a checkout moves', () => {
    test('staged, changed and untracked files are kept under a ref', async () => {
      const tip = await land({ 'landed.txt': 'l\n' });
      fixture.write(inRoot('README.md'), 'staged\n');
      fixture.git('add', 'README.md');
      fixture.write(inRoot('README.md'), 'staged and changed\n');
      fixture.write(inRoot('notes.txt'), 'untracked\n');
      assert.equal((await follow(tip)).kind, 'followed');
      assert.equal(fixture.git('show', `${before}:README.md`), 'staged and changed');
      assert.equal(fixture.git('show', `${before}:notes.txt`), 'untracked');
      const staged = fixture.git('rev-list', before).split('\n');
      assert.ok(staged.some((sha) => fixture.git('show', `${sha}:README.md`) === 'staged'));
      assert.equal(fixture.git('rev-parse', `${before}^1`), from);
    });

    test('a clean checkout needs no snapshot', async () => {
      assert.equal((await follow(await land({ 'landed.txt': 'l\n' }))).kind, 'followed');
      assert.equal(fixture.git('for-each-ref', 'refs/drover/before'), '');
    });

    test('a linked worktree has its own ref', async () => {
      const folder = join(fixture.home, 'linked');
      fixture.git('worktree', 'add', '-q', '-b', 'side', folder);
      fixture.write(join(folder, 'README.md'), 'mine\n');
      const tip = await land({ 'landed.txt': 'l\n' });
      const outcome = await repository.follow('side', tip, 'fast-forward');
      assert.equal(valueOf(outcome).kind, 'followed');
      assert.equal(fixture.git('show', 'refs/drover/before/worktrees/linked:README.md'), 'mine');
      assert.equal(existsSync(join(folder, 'landed.txt')), true);
    });
  });
});
