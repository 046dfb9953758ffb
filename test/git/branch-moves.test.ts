// One function moves branches: never under a worktree that has them checked out, under any name,
// and never over a value that another process has written.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import { kindOf, makeFixture, valueOf, type Fixture } from './fixture.ts';

suite('git: branch moves', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  setup(async () => {
    fixture = makeFixture();
    repository = await fixture.open();
  });
  teardown(() => fixture.remove());

  const tipOf = (branch: string): string => fixture.git('rev-parse', branch);

  /** A commit on top of `from` with one additional file, made without a checkout. */
  function commitOn(from: string, path: string): string {
    const other = join(fixture.home, `clone-${path}`);
    fixture.git('worktree', 'add', '-q', '--detach', other, from);
    fixture.write(join(other, path), `${path}\n`);
    fixture.gitIn(other, 'add', '-A');
    fixture.gitIn(other, 'commit', '-qm', path);
    const sha = fixture.gitIn(other, 'rev-parse', 'HEAD');
    fixture.git('worktree', 'remove', '--force', other);
    return sha;
  }

  test('a target behind a symbolic ref follows in the checkout that holds it', async () => {
    fixture.git('branch', '-m', 'main', 'master');
    fixture.git('symbolic-ref', 'refs/heads/main', 'refs/heads/master');
    fixture.git('symbolic-ref', 'HEAD', 'refs/heads/main');
    for (const [head, target] of [
      ['main', 'main'],
      ['main', 'master'],
      ['master', 'main'],
    ] as const) {
      fixture.git('symbolic-ref', 'HEAD', `refs/heads/${head}`);
      const tip = commitOn(tipOf('master'), `${head}-${target}.txt`);
      const outcome = valueOf(await repository.follow(target, tip, 'fast-forward'));
      assert.deepEqual(outcome, { kind: 'followed', sha: tip });
      assert.equal(tipOf('master'), tip);
      assert.equal(fixture.git('status', '--porcelain'), '');
      assert.equal(fixture.git('symbolic-ref', 'refs/heads/main'), 'refs/heads/master');
    }
    assert.equal(await repository.canonicalBranch('main'), 'master');
    assert.equal(await repository.canonicalBranch('none'), 'none');
  });

  test("Drover's own branch moves only from the known value", async () => {
    const first = tipOf('main');
    const second = commitOn(first, 'two.txt');
    const third = commitOn(first, 'three.txt');
    const name = 'drover/results/main';
    assert.deepEqual(valueOf(await repository.moveBranch(name, second, null)), { kind: 'moved' });
    assert.equal(kindOf(await repository.moveBranch(name, third, first)), 'stale');
    assert.equal(kindOf(await repository.moveBranch(name, null, first)), 'stale');
    assert.equal(tipOf(name), second);
    valueOf(await repository.moveBranch(name, third, second));
    valueOf(await repository.moveBranch(name, null, third));
    assert.equal(fixture.git('branch', '--list', 'drover/*'), '');
  });

  test("Drover's own branch that is checked out moves forward with its files, and in no other way", async () => {
    const first = tipOf('main');
    const second = commitOn(first, 'two.txt');
    const beside = commitOn(first, 'beside.txt');
    const name = 'drover/results/main';
    fixture.git('switch', '-q', '-c', name);
    assert.deepEqual(valueOf(await repository.moveBranch(name, second, first)), { kind: 'moved' });
    assert.equal(fixture.git('status', '--porcelain'), '');
    for (const next of [beside, first, null]) {
      const kept = valueOf(await repository.moveBranch(name, next, second));
      assert.match(kept.kind === 'kept' ? kept.reason : '', /is checked out in /);
    }
    assert.equal(tipOf(name), second);
    assert.equal(fixture.git('status', '--porcelain'), '');
  });
});
