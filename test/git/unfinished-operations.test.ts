// Merges and rebases that an agent has left unfinished: concluded if the intent is clear, refused
// otherwise.

import assert from 'node:assert/strict';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import {
  kindOf,
  leftoversOf,
  makeFixture,
  startTask,
  valueOf,
  type Fixture,
  type Task,
} from './fixture.ts';

suite('git: unfinished operations', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let task: Task;
  setup(async () => {
    fixture = makeFixture();
    repository = await fixture.open();
    task = await startTask(fixture, repository, 's0', 'task-1');
  });
  teardown(() => fixture.remove());

  const inSlot = (...args: readonly string[]): string => fixture.gitIn(task.path, ...args);
  const write = (path: string, content: string): void =>
    fixture.write(join(task.path, path), content);
  const commit = () => repository.commitLeftovers(leftoversOf(task));
  const rescued = (): string[] =>
    fixture
      .git('for-each-ref', '--format=%(refname)', 'refs/drover/work')
      .split('\n')
      .filter(Boolean);

  /** A branch `side` beside the task's own branch, each with its own file. */
  const twoBranches = (): void => {
    write('side.txt', 'side\n');
    inSlot('checkout', '-q', '-b', 'side');
    inSlot('add', '-A');
    inSlot('commit', '-qm', 'side');
    inSlot('checkout', '-q', task.branch);
    write('here.txt', 'here\n');
    inSlot('add', '-A');
    inSlot('commit', '-qm', 'here');
  };

  test('a merge that the agent resolved is concluded, and an unresolved one is refused', async () => {
    fixture.git('branch', 'side', task.base);
    write('README.md', 'task\n');
    inSlot('commit', '-qam', 'task');
    const other = join(fixture.home, 'other');
    fixture.git('worktree', 'add', '-q', other, 'side');
    fixture.write(join(other, 'README.md'), 'side\n');
    fixture.gitIn(other, 'commit', '-qam', 'side');
    assert.throws(() => inSlot('merge', 'side'));
    const refused = await commit();
    assert.equal(kindOf(refused), 'failed');
    assert.match(
      refused.ok ? '' : refused.error.message,
      /merge with conflicts in README\.md .*refs\/drover\/work\/task-1\/1\./,
    );
    assert.match(fixture.git('show', `${rescued()[0]}:README.md`), /<<<<<<</);
    write('README.md', 'both\n');
    const done = valueOf(await commit());
    assert.equal(fixture.git('show', `${done.commit}:README.md`), 'both');
    assert.equal(fixture.git('rev-list', '--parents', '-1', done.commit).split(' ').length, 3);
  });

  test('a merge that found the index locked, whose commit would drop the other side, is refused', async () => {
    const merge = ['merge', '-q', '--no-commit', '--no-ff', 'side'];
    twoBranches();
    const lock = inSlot('rev-parse', '--git-path', 'index.lock');
    writeFileSync(lock, '');
    assert.throws(() => inSlot(...merge), /Unable to write index/);
    rmSync(lock);
    write('new.txt', 'new\n');
    const refused = await commit();
    assert.match(refused.ok ? '' : refused.error.message, /nothing of the other side.*task-1\/1/);
    assert.equal(fixture.git('show', `${rescued()[0]}:new.txt`), 'new');
    inSlot('merge', '--abort');
    inSlot(...merge);
    const done = valueOf(await commit());
    const show = (path: string): string => fixture.git('show', `${done.commit}:${path}`);
    assert.deepEqual(['side.txt', 'here.txt', 'new.txt'].map(show), ['side', 'here', 'new']);
  });

  test('a merge whose other side the agent dropped is concluded if both sides conflict', async () => {
    write('README.md', 'side\n');
    inSlot('checkout', '-q', '-b', 'side');
    inSlot('commit', '-qam', 'side');
    inSlot('checkout', '-q', task.branch);
    write('README.md', 'here\n');
    inSlot('commit', '-qam', 'here');
    assert.throws(() => inSlot('merge', '-q', 'side'));
    inSlot('checkout', '--ours', 'README.md');
    inSlot('add', 'README.md');
    const done = valueOf(await commit());
    assert.equal(fixture.git('show', `${done.commit}:README.md`), 'here');
    assert.equal(fixture.git('rev-list', '--parents', '-1', done.commit).split(' ').length, 3);
  });

  test('changes beside an automatic merge survive a rebase over it', async () => {
    twoBranches();
    const before = inSlot('rev-parse', 'HEAD');
    inSlot('merge', '-q', '--no-commit', '--no-ff', 'side');
    write('side.txt', 'side, and more\n');
    write('new.txt', 'new\n');
    const done = valueOf(await commit());
    const show = (path: string): string => fixture.git('show', `${done.commit}:${path}`);
    assert.deepEqual(['side.txt', 'new.txt'].map(show), ['side, and more', 'new']);
    assert.equal(fixture.git('rev-parse', `${done.commit}^^1`), before);
    assert.equal(fixture.git('rev-parse', `${done.commit}^^2`), fixture.git('rev-parse', 'side'));
    assert.equal(fixture.git('show', `${done.commit}^:side.txt`), 'side');
    assert.equal(inSlot('status', '--porcelain'), '');
    assert.equal(fixture.git('rev-parse', task.branch), done.commit);
    inSlot('rebase', '-q', '--force-rebase', task.base);
    assert.equal(inSlot('show', 'HEAD:new.txt'), 'new');
    assert.equal(inSlot('show', 'HEAD:side.txt'), 'side, and more');
  });

  test('an automatic merge without other changes is one commit', async () => {
    inSlot('checkout', '-q', '-b', 'side');
    write('side.txt', 'side\n');
    inSlot('add', '-A');
    inSlot('commit', '-qm', 'side');
    inSlot('checkout', '-q', task.branch);
    inSlot('merge', '-q', '--no-commit', '--no-ff', 'side');
    const done = valueOf(await commit());
    assert.equal(fixture.git('rev-parse', `${done.commit}^1`), task.base);
    assert.equal(fixture.git('rev-parse', `${done.commit}^2`), fixture.git('rev-parse', 'side'));
    assert.equal(fixture.git('rev-parse', task.branch), done.commit);
    assert.ok(done.changed);
  });

  test('an unfinished rebase is refused and kept, and the slot is usable again', async () => {
    write('README.md', 'task\n');
    inSlot('commit', '-qam', 'task');
    const own = inSlot('rev-parse', 'HEAD');
    fixture.write(join(fixture.root, 'README.md'), 'main\n');
    fixture.git('commit', '-qam', 'main');
    assert.throws(() => inSlot('rebase', 'main'));
    const refused = await commit();
    assert.match(refused.ok ? '' : refused.error.message, /rebase unfinished/);
    assert.equal(fixture.git('rev-parse', task.branch), own);
    const next = await startTask(fixture, repository, 's0', 'task-2');
    assert.equal(
      inSlot('status', '--porcelain=v2', '--branch').split('\n')[1],
      `# branch.head ${next.branch}`,
    );
    assert.equal(existsSync(join(fixture.root, '.git', 'worktrees', 's0', 'rebase-merge')), false);
  });
});
