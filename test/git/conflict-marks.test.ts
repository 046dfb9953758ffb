// Which files of a slot contain conflict markers, and which operations are unfinished there.

import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import { makeFixture, startTask, valueOf, type Fixture, type Task } from './fixture.ts';

const marks = (text: string): string =>
  `<<<<<<< HEAD\n${text}\n=======\nother\n>>>>>>> ${'side'}\n`;

suite('git: conflict markers', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let task: Task;
  setup(async () => {
    fixture = makeFixture();
    fixture.write(join(fixture.root, 'sample.txt'), marks('in the base'));
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'a sample with markers');
    repository = await fixture.open();
    task = await startTask(fixture, repository, 's0', 'task-1');
  });
  teardown(() => fixture.remove());

  const inSlot = (...args: readonly string[]): string => fixture.gitIn(task.path, ...args);
  const write = (path: string, content: string): void =>
    fixture.write(join(task.path, path), content);
  const unfinished = async () => {
    const status = valueOf(await repository.status(task.path, task.base));
    return status.unfinished;
  };

  test('a new slot has no conflict markers, whatever its base contains', async () => {
    assert.deepEqual(await unfinished(), { operation: null, marked: [] });
    assert.equal(valueOf(await repository.status(task.path)).unfinished, undefined);
  });

  test('a stopped merge is named with its files', async () => {
    inSlot('switch', '-q', '-c', 'side');
    write('README.md', 'theirs\n');
    inSlot('commit', '-qam', 'theirs');
    inSlot('switch', '-q', '-');
    write('README.md', 'ours\n');
    inSlot('commit', '-qam', 'ours');
    assert.throws(() => inSlot('merge', '-q', 'side'));
    assert.deepEqual(await unfinished(), { operation: 'merge', marked: ['README.md'] });
    // The index is irrelevant: the file still contains them.
    inSlot('add', 'README.md');
    assert.deepEqual(await unfinished(), { operation: 'merge', marked: ['README.md'] });
    inSlot('commit', '-qm', 'with markers');
    assert.deepEqual(await unfinished(), { operation: null, marked: ['README.md'] });
    write('README.md', 'both\n');
    assert.deepEqual(await unfinished(), { operation: null, marked: [] });
  });

  test('incomplete markers do not count, and no link is followed', async () => {
    write('half.txt', '<<<<<<< HEAD\nno end\n');
    write('awkward \n name.txt', marks('new'));
    symlinkSync(join(fixture.root, 'sample.txt'), join(task.path, '<<<<<<< link'));
    inSlot('add', '-A');
    assert.deepEqual((await unfinished())?.marked, ['awkward \n name.txt']);
  });
});
