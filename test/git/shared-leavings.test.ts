// An agent's leftovers in the folder that all worktrees share, and files that are large only on
// disk.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
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

suite('git: changes that agents leave in shared state', () => {
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

  for (const committed of [false, true]) {
    const by = committed ? ', committed by the agent' : '';
    test(`A1: a large file that a filter stores as a pointer is not held${by}`, async () => {
      fixture.write(join(fixture.root, '.gitattributes'), '*.bin filter=pointer\n');
      fixture.git('add', '-A');
      fixture.git('commit', '-qm', 'attributes');
      fixture.git('config', 'filter.pointer.clean', 'wc -c');
      fixture.git('config', 'filter.pointer.smudge', 'cat');
      repository = await fixture.open();
      task = await startTask(fixture, repository, 's0', 'task-2');
      write('asset.bin', 'x'.repeat(2 * 1024 * 1024));
      write('large.txt', 'x'.repeat(2 * 1024 * 1024));
      if (committed) {
        inSlot('add', 'asset.bin');
        inSlot('commit', '-qm', 'asset');
      }
      const done = valueOf(await commit());
      assert.deepEqual(done.held, ['large.txt']);
      assert.equal(fixture.git('show', `${done.commit}:asset.bin`).trim(), '2097152');
    });
  }

  test("an attempt's stash becomes a snapshot, and the list of stashes is not changed", async () => {
    fixture.write(join(fixture.root, 'README.md'), 'mine\n');
    fixture.git('stash', 'push', '-qm', 'of the person');
    write('README.md', 'of the agent\n');
    inSlot('stash');
    write('src/a.txt', 'of the agent\n');
    inSlot('stash', 'push', '-qm', 'with words');
    const before = stashes();
    const done = valueOf(await commit());
    assert.deepEqual([done.changed, done.aside], [false, true]);
    assert.equal(stashes(), before);
    const kept = fixture.git('log', '--format=%H', 'refs/drover/work/task-1/1').split('\n');
    const holds = (path: string): boolean =>
      kept.some((sha) => fixture.git('show', `${sha}:${path}`) === 'of the agent');
    assert.deepEqual([holds('README.md'), holds('src/a.txt')], [true, true]);
  });

  const configuration = (): string => readFileSync(join(fixture.root, '.git', 'config'), 'utf8');
  const changes = () => repository.sharedChanges(task.path);

  test('settings that changed during an attempt are reported with the remedy, and not rewritten', async () => {
    inSlot('config', 'user.email', "bot's@agent.invalid");
    inSlot('config', 'author.name', 'Bot');
    inSlot('config', '--add', 'core.hooksPath', '/hooks');
    inSlot('config', 'branch.main.remote', 'origin');
    const before = configuration();
    const reported = await changes();
    valueOf(await commit());
    assert.equal(configuration(), before);
    assert.deepEqual(reported, [
      {
        kind: 'setting',
        key: 'user.email',
        before: ['person@example.org'],
        now: ["bot's@agent.invalid"],
        restore: "git config --replace-all user.email 'person@example.org'",
      },
      {
        kind: 'setting',
        key: 'core.hookspath',
        before: [],
        now: ['/hooks'],
        restore: 'git config --unset-all core.hookspath',
      },
      {
        kind: 'setting',
        key: 'author.name',
        before: [],
        now: ['Bot'],
        restore: 'git config --unset-all author.name',
      },
    ]);
    assert.deepEqual(await changes(), []);
    for (const change of reported)
      if ('restore' in change) execFileSync('sh', ['-c', change.restore], { cwd: fixture.root });
    assert.equal(fixture.git('config', 'user.email'), 'person@example.org');
    assert.equal(fixture.git('config', '--default', '', '--get', 'author.name'), '');
  });

  test('the reported command restores a setting with several values', async () => {
    for (const value of ['one two', "three's"]) fixture.git('config', '--add', 'a.b', value);
    task = await startTask(fixture, repository, 's0', 'task-2');
    inSlot('config', '--replace-all', 'a.b', 'x');
    const [change] = await changes();
    assert.ok(change?.kind === 'setting');
    execFileSync('sh', ['-c', change.restore], { cwd: fixture.root });
    assert.equal(fixture.git('config', '--get-all', 'a.b'), "one two\nthree's");
  });

  test("with overlapping agents, Drover brings no agent's change back over the user's own", async () => {
    fixture.git('config', 'user.email', 'set-by-agent@example.org');
    const other = await startTask(fixture, repository, 's1', 'task-2');
    fixture.git('config', 'user.email', 'person@example.org');
    for (const each of [task, other]) {
      fixture.write(join(each.path, `${each.branch.replaceAll('/', '-')}.txt`), 'work\n');
      valueOf(await repository.commitLeftovers(leftoversOf(each)));
      await repository.sharedChanges(each.path);
    }
    assert.equal(fixture.git('config', 'user.email'), 'person@example.org');
  });

  for (const [what, set] of [
    ['changes', true],
    ['sets for the first time', false],
  ] as const) {
    test(`an identity that the user ${what} while an agent runs is kept, and later commits use it`, async () => {
      if (!set) {
        for (const key of ['user.name', 'user.email']) fixture.git('config', '--unset', key);
        repository = await fixture.open();
        task = await startTask(fixture, repository, 's0', 'task-2');
      }
      fixture.git('config', 'user.name', 'New Name');
      fixture.git('config', 'user.email', 'new@example.org');
      write('src/b.txt', 'of the agent\n');
      const done = valueOf(await commit());
      await changes();
      const request = { tip: task.base, commit: done.commit, subject: 'land', trailers: [] };
      const merged = valueOf(await repository.merge(request));
      assert.ok(merged.kind === 'merged');
      const format = '--format=%an %ae %cn %ce';
      const expected = 'New Name new@example.org New Name new@example.org';
      assert.equal(fixture.git('log', '-1', format, merged.commit), expected);
      assert.equal(fixture.git('log', '-1', format, done.commit), expected);
      assert.equal(fixture.git('config', 'user.email'), 'new@example.org');
    });
  }

  test('changed hooks and a changed exclude file are reported, and not rewritten', async () => {
    fixture.write(join(fixture.root, '.git', 'hooks', 'pre-commit'), '#!/bin/sh\n');
    fixture.write(join(fixture.root, '.git', 'info', 'exclude'), 'mine\n');
    assert.deepEqual(await changes(), [
      { kind: 'hooks', names: ['pre-commit'] },
      { kind: 'exclude' },
    ]);
    assert.equal(readFileSync(join(fixture.root, '.git', 'info', 'exclude'), 'utf8'), 'mine\n');
    assert.deepEqual(await changes(), []);
  });

  test('nothing is reported for a confined agent', async () => {
    const local = valueOf(await fixture.adapter().open(fixture.root));
    task = await startTask(fixture, local, 's0', 'task-2');
    valueOf(await local.lend(task.path));
    fixture.git('config', 'user.email', 'new@example.org');
    assert.deepEqual(await local.sharedChanges(task.path), []);
  });

  const stashes = (): string => fixture.git('stash', 'list', '--format=%H %gs');

  /** The person's stash, made before the agent of the next attempt starts. */
  async function stashThenStart(): Promise<string> {
    fixture.write(join(fixture.root, 'README.md'), 'mine\n');
    fixture.write(join(fixture.root, 'src', 'a.txt'), 'mine too\n');
    fixture.git('stash', 'push', '-qm', 'of the person');
    task = await startTask(fixture, repository, 's0', 'task-2');
    return fixture.git('rev-parse', 'stash@{0}');
  }

  for (const how of ['pop', 'drop'] as const) {
    test(`a person's stash is reported and keeps a ref after the agent's "git stash ${how}"`, async () => {
      const sha = await stashThenStart();
      inSlot('stash', how, '-q');
      const ref = `refs/drover/rescue/stashes/${sha}`;
      const restore = `git stash store -m 'On main: of the person' ${sha}`;
      assert.deepEqual(await changes(), [
        { kind: 'stash', message: 'On main: of the person', ref, restore },
      ]);
      assert.equal(stashes(), '');
      assert.equal(fixture.git('rev-parse', ref), sha);
      execFileSync('sh', ['-c', restore], { cwd: fixture.root });
      assert.equal(stashes(), `${sha} On main: of the person`);
    });
  }
});
