// Objects and refs that git writes for Drover are on disk before the next step relies on them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
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

suite('git: durability', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let task: Task;
  let log: string;

  setup(async () => {
    fixture = makeFixture();
    log = join(fixture.home, 'trace');
    // A setting that users have for speed.
    fixture.git('config', 'core.fsync', 'none');
    fixture.git('config', '--global', 'trace2.eventTarget', log);
    repository = await fixture.open();
    task = await startTask(fixture, repository, 's0', 'task-1');
    fixture.write(join(task.path, 'new.txt'), 'mine\n');
  });
  teardown(() => fixture.remove());

  /** Files that git has flushed to disk so far. */
  function flushed(): number {
    return readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"category":"fsync"'))
      .reduce((sum, line) => sum + Number((JSON.parse(line) as { value: string }).value), 0);
  }

  function objects(): number {
    return fixture.git('cat-file', '--batch-all-objects', '--batch-check').split('\n').length;
  }

  async function flushesAll(body: () => Promise<unknown>): Promise<void> {
    const before = { flushed: flushed(), objects: objects() };
    await body();
    const written = objects() - before.objects;
    assert.ok(written > 0);
    assert.ok(flushed() - before.flushed >= written, 'every object');
  }

  test('a snapshot survives a power cut', () =>
    flushesAll(async () => {
      const request = { path: task.path, label: 'task-1/1', base: task.base } as const;
      valueOf(await repository.snapshot({ ...request, author: 'agent', reason: 'failed' }));
    }));

  test('a commit survives a power cut', () =>
    flushesAll(async () => valueOf(await repository.commitLeftovers(leftoversOf(task)))));

  test('a merge survives a power cut', async () => {
    const { commit } = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    fixture.write(join(fixture.root, 'two.txt'), 'two\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'two');
    const tip = fixture.git('rev-parse', 'main');
    await flushesAll(async () => {
      const asked = { tip, commit, subject: 'drover: land', trailers: [] };
      const merged = valueOf(await repository.merge(asked));
      assert.ok(merged.kind === 'merged');
    });
  });
});
