// One task from slot to landing.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  makeFixture,
  leftoversOf,
  startTask,
  snapshotRef,
  valueOf,
  type Fixture,
} from './fixture.ts';

suite('git: a single task', () => {
  let fixture: Fixture;
  setup(() => {
    fixture = makeFixture();
  });
  teardown(() => fixture.remove());

  test('it lands from a warm slot', async () => {
    const repository = await fixture.open();
    const first = await startTask(fixture, repository, 's0', 'task-1');
    fixture.write(join(first.path, 'one.txt'), '1\n');
    valueOf(await repository.commitLeftovers(leftoversOf(first)));
    const task = await startTask(fixture, repository, 's0', 'task-2');
    fixture.write(join(task.path, 'sub dir', 'ü.txt'), '2\n');
    fixture.write(join(task.path, 'README.md'), 'changed\n');
    const done = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    assert.equal(done.changed, true);
    assert.deepEqual(done.held, []);
    const touched = valueOf(await repository.changedPaths(task.base, done.commit));
    assert.deepEqual(touched, ['README.md', 'sub dir/ü.txt']);
    const merged = valueOf(
      await repository.merge({
        tip: task.base,
        commit: done.commit,
        subject: 'drover: task-2 A title',
        trailers: ['Drover-Task: task-2', 'Drover-Attempt: 1'],
      }),
    );
    assert.equal(merged.kind, 'merged');
    if (merged.kind !== 'merged') return;
    valueOf(
      await repository.updateRef('refs/drover/land/main', merged.commit, null, 'drover: land'),
    );
    assert.equal(
      fixture.git('show', '-s', '--format=%B', merged.commit),
      'drover: task-2 A title\n\nDrover-Task: task-2\nDrover-Attempt: 1',
    );
    assert.equal(fixture.git('show', `${merged.commit}:sub dir/ü.txt`), '2');
    assert.equal(fixture.git('rev-parse', `${merged.commit}^{tree}`), merged.tree);
    const followed = valueOf(await repository.follow('main', merged.commit, 'fast-forward'));
    assert.deepEqual(followed, { kind: 'followed', sha: merged.commit });
    assert.equal(fixture.git('status', '--porcelain'), '');
    assert.equal(fixture.git('rev-parse', 'main'), merged.commit);
  });

  test('touched paths are known even if the agent has committed', async () => {
    const repository = await fixture.open();
    const task = await startTask(fixture, repository, 's0', 'task-1');
    fixture.write(join(task.path, 'README.md'), 'changed\n');
    fixture.write(join(task.path, 'new dir/ü x.txt'), 'new\n');
    fixture.write(join(task.path, '.env'), 'held\n');
    const ours = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    const touched = valueOf(await repository.changedPaths(task.base, ours.commit));
    assert.deepEqual(touched, ['README.md', 'new dir/ü x.txt']);
    fixture.write(join(task.path, 'gone.txt'), 'gone\n');
    fixture.gitIn(task.path, 'add', 'gone.txt');
    fixture.gitIn(task.path, 'commit', '-qm', 'of the agent');
    rmSync(join(task.path, 'gone.txt'));
    const mixed = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    const paths = valueOf(await repository.changedPaths(task.base, mixed.commit));
    assert.deepEqual(paths, ['README.md', 'new dir/ü x.txt']);
  });

  test('V6: commits that change nothing are not work, but a commit that changes something is', async () => {
    const repository = await fixture.open();
    const task = await startTask(fixture, repository, 's0', 'task-1');
    fixture.gitIn(task.path, 'commit', '-q', '--allow-empty', '-m', 'nothing');
    assert.equal(valueOf(await repository.commitLeftovers(leftoversOf(task))).changed, false);
    fixture.write(join(task.path, 'README.md'), 'changed\n');
    fixture.gitIn(task.path, 'commit', '-qam', 'something');
    assert.equal(valueOf(await repository.commitLeftovers(leftoversOf(task))).changed, true);
    fixture.gitIn(task.path, 'revert', '--no-edit', 'HEAD');
    const taken = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    assert.equal(taken.changed, false);
    assert.equal(fixture.git('rev-parse', task.branch), taken.commit, 'what it has made is kept');
  });

  test('long commit ids work', async () => {
    const long = makeFixture({ init: ['--object-format=sha256'] });
    const repository = await long.open();
    const task = await startTask(long, repository, 's0', 'task-1');
    assert.equal(task.base.length, 64);
    long.write(join(task.path, 'one.txt'), '1\n');
    const done = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    const request = { tip: task.base, commit: done.commit, subject: 's', trailers: [] };
    const merged = valueOf(await repository.merge(request));
    const tip = merged.kind === 'merged' ? merged.commit : '';
    assert.equal(valueOf(await repository.follow('main', tip, 'fast-forward')).kind, 'followed');
    long.write(join(task.path, 'two.txt'), '2\n');
    assert.equal(await snapshotRef(repository, task.path, 'x/1'), 'refs/drover/work/x/1');
    assert.equal(long.git('log', '--oneline', '--first-parent').split('\n').length, 2);
    long.remove();
  });
});
