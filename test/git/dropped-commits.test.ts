// Commits that an agent makes and abandons in its slot are in snapshots of its attempt.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import {
  leftoversOf,
  makeFixture,
  startTask,
  valueOf,
  type Fixture,
  type Task,
} from './fixture.ts';

suite('git: commits that an agent drops', () => {
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
  const commitFile = (path: string): void => {
    fixture.write(join(task.path, path), `${path}\n`);
    inSlot('add', '-A');
    inSlot('commit', '-qm', path);
  };
  const dropped = async (): Promise<readonly string[]> => {
    const found = valueOf(await repository.listSnapshots('task-1', [task.base]));
    return found
      .filter(({ reason, label }) => reason === 'dropped' && label === 'task-1/1')
      .map(({ commit }) => fixture.git('show', '-s', '--format=%s', `${commit}^`));
  };
  const commit = () => repository.commitLeftovers(leftoversOf(task));
  const snapshot = async (): Promise<unknown> =>
    valueOf(
      await repository.snapshot({
        path: task.path,
        label: 'task-1/1',
        reason: 'failed',
        author: 'agent',
        base: task.base,
      }),
    );

  const ways: readonly (readonly [string, () => void])[] = [
    ['reset', () => void inSlot('reset', '-q', '--hard', 'HEAD~1')],
    ['amended', () => void inSlot('commit', '-q', '--amend', '-m', 'amended')],
    ['left on no branch', () => void inSlot('checkout', '-q', 'HEAD~1')],
    ['rebased', () => void inSlot('rebase', '-q', '--onto', 'HEAD~2', 'HEAD~1')],
  ];
  for (const [how, act] of ways) {
    test(`a commit that was ${how} stays reachable, and is not continued from`, async () => {
      commitFile('first.txt');
      if (how === 'left on no branch') inSlot('checkout', '-q', '--detach');
      commitFile('ü lost.txt');
      const lost = inSlot('rev-parse', 'HEAD');
      act();
      await snapshot();
      const last = valueOf(await repository.lastSnapshot('task-1/1'));
      assert.notEqual(last?.head, lost);
      await commit();
      assert.deepEqual(
        (await dropped()).filter((subject) => subject === 'ü lost.txt'),
        ['ü lost.txt'],
      );
      const before = fixture.git('for-each-ref', 'refs/drover/work/task-1/1-dropped');
      await commit();
      assert.equal(fixture.git('for-each-ref', 'refs/drover/work/task-1/1-dropped'), before);
    });
  }

  test('commits that stay require no snapshot', async () => {
    commitFile('first.txt');
    commitFile('second.txt');
    await commit();
    await commit();
    inSlot('commit', '-q', '--allow-empty', '-m', 'third');
    await commit();
    assert.equal(fixture.git('for-each-ref', 'refs/drover/work'), '');
  });

  for (const next of ['used again', 'removed']) {
    test(`they are kept at their own task if only the next ${next} slot is checked`, async () => {
      commitFile('first.txt');
      commitFile('lost.txt');
      inSlot('reset', '-q', '--hard', task.base);
      if (next === 'removed') {
        const removed = await repository.removeWorktree({
          path: task.path,
          force: false,
          label: '',
        });
        assert.equal(valueOf(removed).kind, 'removed');
        assert.equal(existsSync(task.path), false);
      } else {
        await startTask(fixture, repository, 's0', 'task-2');
        await startTask(fixture, repository, 's0', 'task-3');
      }
      assert.deepEqual(await dropped(), ['lost.txt']);
      assert.equal(fixture.git('for-each-ref', 'refs/drover/work').split('\n').length, 1);
    });
  }
});
