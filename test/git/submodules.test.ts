// D4: an agent's work inside a submodule lands if others can fetch it, and is otherwise held; it
// never disappears with its slot.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import { removeFolder } from '../remove-folder.ts';
import {
  leftoversOf,
  makeFixture,
  startTask,
  type Task,
  valueOf,
  type Fixture,
} from './fixture.ts';
import type { CommitLeftoversOutcome } from '../../server/git/slot-port.ts';

suite('git: submodules', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let upstream: string;
  let task: Task;
  setup(async () => {
    fixture = makeFixture();
    upstream = join(fixture.home, 'upstream');
    fixture.gitIn(fixture.home, 'init', '-q', '-b', 'main', upstream);
    fixture.gitIn(upstream, 'config', 'receive.denyCurrentBranch', 'ignore');
    commitIn(upstream, 'lib.txt', 'one\n');
    withFiles(fixture.root, 'submodule', 'add', '-q', upstream, 'libs');
    fixture.git('commit', '-qm', 'a submodule');
    repository = await fixture.open();
    task = await startTask(fixture, repository, 's0', 'task-1');
    populate(task.path);
  });
  teardown(() => fixture.remove());

  const withFiles = (folder: string, ...args: readonly string[]): string =>
    fixture.gitIn(folder, '-c', 'protocol.file.allow=always', ...args);
  const populate = (path: string): string =>
    withFiles(path, 'submodule', '-q', 'update', '--init', '--recursive');
  const commitIn = (folder: string, name: string, content: string): string => {
    fixture.write(join(folder, name), content);
    fixture.gitIn(folder, 'add', '-A');
    const identity = ['-c', 'user.name=Agent', '-c', 'user.email=agent@example.org'];
    fixture.gitIn(folder, ...identity, 'commit', '-qm', `${name} of the agent`);
    return fixture.gitIn(folder, 'rev-parse', 'HEAD');
  };
  const libs = (): string => join(task.path, 'libs');
  const write = (path: string, content: string): void =>
    fixture.write(join(task.path, path), content);
  const commit = async (): Promise<CommitLeftoversOutcome> =>
    valueOf(await repository.commitLeftovers(leftoversOf(task)));
  const next = async (id: string, slot = 's0'): Promise<Task> =>
    startTask(fixture, repository, slot, id);
  const gitlink = (revision: string): string => fixture.git('rev-parse', `${revision}:libs`);
  const holders = (sha: string): string =>
    fixture.git('for-each-ref', '--contains', sha, '--format=%(refname)');
  /** Every line that is reachable from some ref of the repository. */
  const isKept = (token: string): boolean =>
    fixture.git('log', '--all', '--format=%H', `-S${token}`) !== '';

  test('a commit that only the slot has is held, and the rest is committed', async () => {
    const inner = commitIn(libs(), 'own.txt', 'token-commit\n');
    write('rest.txt', 'rest\n');
    const done = await commit();
    assert.deepEqual(done.held, ['libs']);
    assert.equal(gitlink(done.commit), gitlink('main'));
    assert.equal(fixture.git('show', `${done.commit}:rest.txt`), 'rest');
    assert.equal(fixture.gitIn(libs(), 'rev-parse', 'HEAD'), inner);
  });

  test('a commit that the agent has committed in both repositories, or only staged, is held too', async () => {
    commitIn(libs(), 'own.txt', 'token-both\n');
    fixture.gitIn(task.path, 'add', 'libs');
    assert.deepEqual((await commit()).held, ['libs']);
    fixture.gitIn(task.path, 'commit', '-qam', 'both');
    const done = await commit();
    assert.deepEqual(done.held, ['libs']);
    const request = { ...task, commit: done.commit, held: done.held, subject: 's', trailers: [] };
    assert.equal(valueOf(await repository.withoutHeld(request)), null, 'nothing else is to land');
  });

  test('a commit that upstream has or that the user has fetched lands', async () => {
    const newer = commitIn(upstream, 'lib.txt', 'two\n');
    withFiles(task.path, 'submodule', '-q', 'update', '--remote', 'libs');
    const raised = await commit();
    assert.deepEqual([raised.held, gitlink(raised.commit)], [[], newer]);

    const own = commitIn(libs(), 'own.txt', 'own\n');
    assert.deepEqual((await commit()).held, ['libs']);
    fixture.gitIn(join(fixture.root, 'libs'), 'fetch', '-q', libs(), 'HEAD');
    const fetched = await commit();
    assert.deepEqual([fetched.held, gitlink(fetched.commit)], [[], own]);

    const pushed = commitIn(libs(), 'own.txt', 'pushed\n');
    fixture.gitIn(libs(), 'push', '-q', 'origin', 'HEAD:refs/heads/topic');
    const last = await commit();
    assert.deepEqual([last.held, gitlink(last.commit)], [[], pushed]);
  });

  for (const [what, edit] of Object.entries({
    'a tracked file': () => write('libs/lib.txt', 'token-edit\n'),
    'a new file': () => write('libs/new.txt', 'token-edit\n'),
    'a file that git is told not to look at': () => {
      fixture.gitIn(libs(), 'update-index', '--skip-worktree', 'lib.txt');
      write('libs/lib.txt', 'token-edit\n');
    },
    'a file where nothing is checked out': () => {
      fixture.gitIn(task.path, 'submodule', '-q', 'deinit', '-f', 'libs');
      write('libs/new.txt', 'token-edit\n');
    },
    'a repository put in its place': () => {
      removeFolder(libs());
      fixture.gitIn(task.path, 'clone', '-q', upstream, 'libs');
      write('libs/lib.txt', 'token-edit\n');
    },
  })) {
    test(`edits inside are held, kept when the slot is emptied, and absent for the next task: ${what}`, async () => {
      edit();
      write('rest.txt', 'rest\n');
      assert.deepEqual((await commit()).held, ['libs']);
      assert.equal(isKept('token-edit'), false);
      await next('task-2');
      assert.equal(isKept('token-edit'), true);
      populate(task.path);
      assert.equal(readFileSync(join(libs(), 'lib.txt'), 'utf8'), 'one\n');
      assert.equal(existsSync(join(libs(), 'new.txt')), false);
      assert.equal(fixture.gitIn(task.path, 'status', '--porcelain'), '');
    });
  }

  test('commits inside are kept when the slot is emptied or removed, whatever their branch', async () => {
    fixture.gitIn(libs(), 'switch', '-qc', 'topic');
    const topic = commitIn(libs(), 'own.txt', 'topic\n');
    fixture.gitIn(libs(), 'switch', '-q', '--detach', 'main');
    await next('task-2');
    assert.notEqual(holders(topic), '');
    populate(task.path);
    const head = commitIn(libs(), 'own.txt', 'head\n');
    write('libs/edit.txt', 'token-removed\n');
    const request = { path: task.path, label: '', force: true };
    assert.equal(valueOf(await repository.removeWorktree(request)).kind, 'removed');
    assert.notEqual(holders(head), '');
    assert.equal(isKept('token-removed'), true);
  });

  test('a submodule that the agent removed from the tree keeps its commits too', async () => {
    const own = commitIn(libs(), 'own.txt', 'gone\n');
    fixture.gitIn(task.path, 'rm', '-qf', 'libs');
    await next('task-2');
    assert.notEqual(holders(own), '');
  });

  test('unchanged submodules stay checked out for the next task without a snapshot', async () => {
    await next('task-2');
    assert.equal(readFileSync(join(libs(), 'lib.txt'), 'utf8'), 'one\n');
    assert.equal(fixture.git('for-each-ref', 'refs/drover/work'), '');
  });

  test("the setup's changes inside are not the agent's", async () => {
    const request = { path: task.path, command: 'make', inputs: [], leave: [], only: false };
    const look = valueOf(await repository.lookAtSetup(request));
    write('libs/made.txt', 'token-made\n');
    valueOf(await repository.keepSetup(request, look));
    assert.deepEqual((await commit()).held, []);
    await next('task-2');
    assert.equal(existsSync(join(libs(), 'made.txt')), true);
    write('libs/lib.txt', 'token-edit\n');
    await next('task-3');
    assert.equal(isKept('token-edit'), true);
    assert.equal(valueOf(await repository.lookAtSetup(request)).stands, false);
  });

  test("an older checkout does not revert the target's newer version", async () => {
    await next('task-2');
    const newer = commitIn(upstream, 'lib.txt', 'two\n');
    withFiles(fixture.root, 'submodule', '-q', 'update', '--remote', 'libs');
    fixture.git('commit', '-qam', 'raised');
    task = await next('task-3');
    write('rest.txt', 'rest\n');
    const done = await commit();
    assert.deepEqual([done.held, gitlink(done.commit)], [[], newer]);
  });

  test('a submodule inside a submodule is checked as well', async () => {
    const inner = join(fixture.home, 'inner');
    fixture.gitIn(fixture.home, 'init', '-q', '-b', 'main', inner);
    commitIn(inner, 'deep.txt', 'deep\n');
    withFiles(upstream, 'submodule', 'add', '-q', inner, 'inner');
    commitIn(upstream, 'lib.txt', 'with inner\n');
    withFiles(fixture.root, 'submodule', '-q', 'update', '--remote', 'libs');
    fixture.git('commit', '-qam', 'raised');
    task = await next('task-2', 's1');
    populate(task.path);
    write('libs/inner/deep.txt', 'token-deep\n');
    assert.deepEqual((await commit()).held, ['libs/inner']);
    await next('task-3', 's1');
    assert.equal(isKept('token-deep'), true);
    populate(task.path);
    assert.equal(readFileSync(join(libs(), 'inner', 'deep.txt'), 'utf8'), 'deep\n');
  });
});
