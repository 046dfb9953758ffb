// Snapshots of a worktree in which a confined program is running: they depend on nothing that
// exists only in the program's own folder.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LentGit } from '../../server/git/local-port.ts';
import type { LocalRepository } from '../../server/git/local-port.ts';
import type { Snapshot } from '../../server/git/snapshot-port.ts';
import { removeFolder } from '../remove-folder.ts';
import { gitInside } from './lent-git.ts';
import { makeFixture, startTask, type Task, valueOf, type Fixture } from './fixture.ts';

suite("git: snapshots of a confined program's work", () => {
  let fixture: Fixture;
  let repository: LocalRepository;
  let task: Task;
  let lent: LentGit;
  setup(async () => {
    fixture = makeFixture();
    repository = (await fixture.open()) as LocalRepository;
    task = await startTask(fixture, repository, 's0', 'task-1');
    lent = valueOf(await repository.lend(task.path));
  });
  teardown(() => fixture.remove());

  const inside = (...args: readonly string[]): string =>
    gitInside(task.path, lent)(...args).toString('utf8');
  const snapshot = async (): Promise<Snapshot> => {
    const request = { path: task.path, label: 'task-1/1', base: task.base } as const;
    const made = valueOf(
      await repository.snapshot({ ...request, author: 'agent', reason: 'interval' }),
    );
    assert.ok(made !== null);
    return made;
  };
  const file = (commit: string, path: string): string => fixture.git('show', `${commit}:${path}`);
  const write = (path: string, text: string): void => fixture.write(join(task.path, path), text);
  /** The repository as others see it, without the lent folder. */
  const assertWhole = (): void => {
    fixture.git('fsck', '--connectivity-only', '--no-dangling');
  };

  test('they contain its staged files and its later changes', async () => {
    write('staged.txt', 'staged\n');
    inside('add', 'staged.txt');
    write('later.txt', 'later\n');
    const { commit } = await snapshot();
    assert.equal(file(commit, 'staged.txt'), 'staged');
    assert.equal(file(commit, 'later.txt'), 'later');
    assertWhole();
  });

  test('they contain its commits in sequence, packed or not', async () => {
    for (const name of ['one', 'two', 'three']) {
      write(`${name}.txt`, `${name}\n`);
      inside('add', '-A');
      inside('commit', '-qm', name);
      if (name === 'two') inside('repack', '-adlq');
      write('rest.txt', `after ${name}\n`);
      const { commit } = await snapshot();
      assert.equal(file(commit, `${name}.txt`), name);
      assert.equal(file(commit, 'rest.txt'), `after ${name}`);
      assert.match(fixture.git('log', '--format=%s', commit), new RegExp(`^${name}$`, 'm'));
      assertWhole();
    }
    const last = await snapshot();
    assert.equal(last.isNew, false, 'nothing has changed');
    valueOf(await repository.takeBack(task.path));
    assertWhole();
  });

  test('they do not read its links, pipes and folders as objects', async () => {
    write('a.txt', 'a\n');
    inside('add', 'a.txt');
    const objects = join(lent.folder, 'objects');
    removeFolder(join(objects, 'ab'));
    mkdirSync(join(objects, 'ab', 'c'.repeat(38)), { recursive: true });
    symlinkSync('/etc/passwd', join(objects, 'ab', 'd'.repeat(38)));
    execFileSync('mkfifo', [join(objects, 'ab', 'e'.repeat(38))]);
    symlinkSync('/etc', join(objects, 'cd'));
    const { commit } = await snapshot();
    assert.equal(file(commit, 'a.txt'), 'a');
    assertWhole();
  });

  test('they are refused for broken objects, and leave nothing behind', async () => {
    write('a.txt', 'a\n');
    inside('add', 'a.txt');
    mkdirSync(join(lent.folder, 'objects', 'ab'), { recursive: true });
    writeFileSync(join(lent.folder, 'objects', 'ab', 'f'.repeat(38)), 'no object\n');
    const request = { path: task.path, label: 'task-1/1', base: task.base } as const;
    const made = await repository.snapshot({ ...request, author: 'agent', reason: 'interval' });
    assert.equal(made.ok, false);
    assertWhole();
    rmSync(join(lent.folder, 'objects', 'ab', 'f'.repeat(38)));
    assert.equal(file((await snapshot()).commit, 'a.txt'), 'a');
  });
});
