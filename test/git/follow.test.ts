// The target branch follows the landings, and the user's checkout is never forced.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FollowOutcome, GitRepository } from '../../server/git/port.ts';
import { fingerprint, landedOn, makeFixture, valueOf, type Fixture } from './fixture.ts';

suite('git: follow', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  setup(async () => {
    fixture = makeFixture();
    repository = await fixture.open();
  });
  teardown(() => fixture.remove());

  const land = (from: string, files: Readonly<Record<string, string>>): Promise<string> =>
    landedOn(fixture, repository, from, files);

  const main = (): string => fixture.git('rev-parse', 'main');
  const follow = async (
    tip: string,
    mode: 'fast-forward' | 'never' = 'fast-forward',
  ): Promise<FollowOutcome> => valueOf(await repository.follow('main', tip, mode));

  test('a branch that is not checked out moves', async () => {
    fixture.git('switch', '-q', '-c', 'elsewhere');
    const tip = await land(main(), { 'new.txt': 'n\n' });
    assert.deepEqual(await follow(tip, 'never'), { kind: 'followed', sha: tip });
    assert.equal(main(), tip);
    assert.equal(fixture.git('status', '--porcelain'), '');
  });

  test('a branch that was moved after the check is left alone', async () => {
    const looked = main();
    const tip = await land(looked, { 'new.txt': 'n\n' });
    const stale = await repository.follow('main', tip, 'fast-forward', tip);
    assert.equal(stale.ok ? null : stale.error.kind, 'stale');
    assert.equal(main(), looked);
  });

  test('a branch that does not exist yet is created', async () => {
    const tip = await land(main(), { 'new.txt': 'n\n' });
    assert.deepEqual(valueOf(await repository.follow('refs/heads/results/x', tip, 'never')), {
      kind: 'followed',
      sha: tip,
    });
    assert.equal(fixture.git('rev-parse', 'results/x'), tip);
  });

  test('dirty files, the index and the stash stay unchanged byte for byte', async () => {
    fixture.write(join(fixture.root, 'README.md'), 'stashed\n');
    fixture.git('stash', '-q');
    fixture.write(join(fixture.root, 'README.md'), 'staged\n');
    fixture.git('add', 'README.md');
    fixture.write(join(fixture.root, 'README.md'), 'staged and changed\n');
    fixture.write(join(fixture.root, 'notes.txt'), 'untracked\n');
    fixture.write(join(fixture.root, 'src', 'a.txt'), 'dirty\n');
    const tip = await land(main(), { 'src/b.txt': 'landed\n', 'src/c.txt': 'new\n' });
    const before = fingerprint(fixture, ['src/b.txt', 'src/c.txt']);
    assert.deepEqual(await follow(tip), { kind: 'followed', sha: tip });
    assert.equal(fingerprint(fixture, ['src/b.txt', 'src/c.txt']), before);
    assert.equal(
      fixture.git('status', '--porcelain'),
      'MM README.md\n M src/a.txt\n?? notes.txt'.replace(/^ /, ''),
    );
    assert.equal(readFileSync(join(fixture.root, 'src', 'c.txt'), 'utf8'), 'new\n');
  });

  test('the branch waits while local changes overlap, and continues when they are gone', async () => {
    fixture.write(join(fixture.root, 'README.md'), 'mine\n');
    const first = await land(main(), { 'README.md': 'landed\n' });
    const second = await land(first, { 'src/b.txt': 'landed\n' });
    const before = fingerprint(fixture);
    const outcome = await follow(second);
    assert.equal(outcome.kind, 'pending');
    assert.equal(outcome.kind === 'pending' && outcome.commits, 2);
    assert.match(
      outcome.kind === 'pending' ? outcome.reason : '',
      /Local changes in .* README\.md/,
    );
    assert.equal(fingerprint(fixture), before);
    fixture.git('checkout', '-q', 'README.md');
    assert.equal((await follow(second)).kind, 'followed');
  });

  const beads = '.beads/issues.jsonl';
  const issue = (id: string, status = 'open'): string => `${JSON.stringify({ id, status })}\n`;
  const present = (): string => readFileSync(join(fixture.root, beads), 'utf8');

  for (const [what, isStaged] of [
    ['uncommitted', false],
    ['staged', true],
  ] as const) {
    test(`${what} Beads issues do not block landings, and neither side loses an issue`, async () => {
      fixture.write(join(fixture.root, beads), issue('a') + issue('b'));
      fixture.git('add', '-A');
      fixture.git('commit', '-qm', 'issues');
      let tip = main();
      for (const [landed, mine] of [
        [issue('a', 'closed') + issue('b'), issue('a') + issue('b') + issue('mine')],
        [issue('a', 'closed') + issue('b') + issue('found'), null],
      ] as const) {
        if (mine !== null) fixture.write(join(fixture.root, beads), mine);
        if (isStaged) fixture.git('add', beads);
        tip = await land(tip, { [beads]: landed, 'src/a.txt': `${landed.length}\n` });
        assert.deepEqual(await follow(tip), { kind: 'followed', sha: tip });
        assert.equal(present(), landed + issue('mine'));
        assert.equal(fixture.git('status', '--porcelain'), `${isStaged ? 'M ' : ' M'} ${beads}`);
        assert.equal(
          readFileSync(join(fixture.root, 'src', 'a.txt'), 'utf8'),
          `${landed.length}\n`,
        );
      }
    });
  }

  test('Beads issues that git does not know yet are merged with landing issues', async () => {
    fixture.write(join(fixture.root, beads), issue('mine'));
    const tip = await land(main(), { [beads]: issue('a') });
    assert.equal((await follow(tip)).kind, 'followed');
    assert.equal(present(), issue('a') + issue('mine'));
    assert.equal(fixture.git('show', `HEAD:${beads}`), issue('a').trim());
  });

  test('Beads issues beside other obstacles, or half-written ones, stay unchanged', async () => {
    fixture.write(join(fixture.root, beads), issue('a'));
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'issues');
    const tip = await land(main(), { [beads]: issue('a', 'closed'), 'README.md': 'landed\n' });
    fixture.write(join(fixture.root, beads), `${issue('a')}{"id":`);
    for (const readme of ['mine\n', 'one\ntwo\nthree\n']) {
      fixture.write(join(fixture.root, 'README.md'), readme);
      const before = fingerprint(fixture);
      const outcome = await follow(tip);
      assert.match(outcome.kind === 'pending' ? outcome.reason : '', /Local changes in .*issues/);
      assert.equal(fingerprint(fixture), before);
    }
    fixture.write(join(fixture.root, beads), issue('a') + issue('b'));
    assert.equal((await follow(tip)).kind, 'followed');
    assert.equal(present(), issue('a', 'closed') + issue('b'));
  });

  test('a file that git ignores is not overwritten', async () => {
    fixture.write(join(fixture.root, '.gitignore'), '.env\nlocal/\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'ignore');
    fixture.write(join(fixture.root, '.env'), 'SECRET=mine\n');
    fixture.write(join(fixture.root, 'plain.txt'), 'mine\n');
    for (const path of ['.env', 'plain.txt']) {
      const outcome = await follow(await land(main(), { [path]: 'landed\n' }));
      assert.match(
        outcome.kind === 'pending' ? outcome.reason : '',
        new RegExp(`not in git.*${path}`),
      );
    }
    assert.equal(readFileSync(join(fixture.root, '.env'), 'utf8'), 'SECRET=mine\n');
    assert.equal(readFileSync(join(fixture.root, 'plain.txt'), 'utf8'), 'mine\n');
  });

  test('the checkout stays unchanged if the setting forbids changes', async () => {
    const tip = await land(main(), { 'new.txt': 'n\n' });
    const outcome = await follow(tip, 'never');
    assert.match(outcome.kind === 'pending' ? outcome.reason : '', /"never"/);
    assert.notEqual(main(), tip);
  });

  test('the move waits for a locked index and a locked branch', async () => {
    const tip = await land(main(), { 'new.txt': 'n\n' });
    for (const lock of ['index.lock', 'refs/heads/main.lock']) {
      const file = join(fixture.root, '.git', lock);
      writeFileSync(file, '');
      const outcome = await follow(tip);
      assert.match(outcome.kind === 'pending' ? outcome.reason : '', /Git is running/);
      rmSync(file);
      assert.equal(existsSync(join(fixture.root, 'new.txt')), false);
    }
    assert.equal((await follow(tip)).kind, 'followed');
  });

  test('a fast-forward that died before the branch moved is completed', async () => {
    const old = main();
    const tip = await land(old, { 'new.txt': 'n\n' });
    fixture.git('merge', '-q', '--ff-only', tip);
    // The branch is deleted, and no log shows a way back.
    fixture.write(join(fixture.root, '.git', 'refs', 'heads', 'main'), `${old}\n`);
    assert.equal((await follow(tip)).kind, 'followed');
    assert.equal(fixture.git('status', '--porcelain'), '');
  });

  test('a branch that is being rebased in any worktree does not move', async () => {
    fixture.git('switch', '-q', '-c', 'elsewhere');
    const other = join(fixture.home, 'other');
    fixture.git('worktree', 'add', '-q', other, 'main');
    fixture.write(join(other, 'README.md'), 'rebased\n');
    fixture.gitIn(other, 'commit', '-qam', 'mine');
    fixture.write(join(fixture.root, 'README.md'), 'upstream\n');
    fixture.git('commit', '-qam', 'upstream');
    assert.throws(() => fixture.gitIn(other, 'rebase', 'elsewhere'));
    assert.equal(fixture.git('for-each-ref', '--format=%(worktreepath)', 'refs/heads/main'), '');
    const tip = await land(main(), { 'new.txt': 'n\n' });
    const outcome = await follow(tip);
    assert.match(
      outcome.kind === 'pending' ? outcome.reason : '',
      /main is in the middle of a rebase/,
    );
    fixture.write(join(other, 'README.md'), 'both\n');
    fixture.gitIn(other, 'add', '-A');
    fixture.gitIn(other, '-c', 'core.editor=true', 'rebase', '--continue');
    assert.equal(fixture.git('show', 'main:README.md'), 'both');
  });

  test('the move waits for an unfinished merge, cherry-pick or bisect', async () => {
    fixture.git('branch', 'side');
    fixture.write(join(fixture.root, 'README.md'), 'main\n');
    fixture.git('commit', '-qam', 'main');
    fixture.git('switch', '-q', 'side');
    fixture.write(join(fixture.root, 'README.md'), 'side\n');
    fixture.git('commit', '-qam', 'side');
    fixture.git('switch', '-q', 'main');
    const tip = await land(main(), { 'new.txt': 'n\n' });
    for (const operation of ['merge', 'cherry-pick']) {
      assert.throws(() => fixture.git(operation, 'side'));
      const outcome = await follow(tip);
      assert.match(
        outcome.kind === 'pending' ? outcome.reason : '',
        new RegExp(`A ${operation} is unfinished`),
      );
      fixture.git(operation, '--abort');
    }
    fixture.git('bisect', 'start', 'HEAD', 'HEAD~1');
    assert.match(JSON.stringify(await follow(tip)), /bisect/);
    fixture.git('bisect', 'reset');
    assert.equal((await follow(tip)).kind, 'followed');
  });

  test('a target that has diverged is distinguished from a target that is ahead', async () => {
    const tip = await land(main(), { 'new.txt': 'n\n' });
    fixture.write(join(fixture.root, 'src', 'a.txt'), 'mine\n');
    fixture.git('commit', '-qam', 'mine');
    const outcome = await follow(tip);
    assert.equal(outcome.kind === 'pending' && outcome.commits, 1);
    assert.match(outcome.kind === 'pending' ? outcome.reason : '', /not part of the landed work/);
    fixture.git('merge', '-q', '--no-edit', tip);
    assert.deepEqual(await follow(tip), { kind: 'followed', sha: main() });
  });

  test("none of the user's hooks run, and no automatic stash is made", async () => {
    const hook = join(fixture.root, '.git', 'hooks', 'post-merge');
    mkdirSync(join(fixture.root, '.git', 'hooks'), { recursive: true });
    writeFileSync(hook, '#!/bin/sh\ntouch "$HOME/hook-ran"\n', { mode: 0o755 });
    fixture.git('config', 'merge.autoStash', 'true');
    fixture.write(join(fixture.root, 'README.md'), 'mine\n');
    const tip = await land(main(), { 'README.md': 'landed\n' });
    assert.equal((await follow(tip)).kind, 'pending');
    fixture.git('checkout', '-q', 'README.md');
    assert.equal((await follow(tip)).kind, 'followed');
    assert.equal(existsSync(join(fixture.home, 'hook-ran')), false);
  });
});
