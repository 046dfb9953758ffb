// Unusual repositories: other object ids, settings of one worktree, names that git interprets
// differently.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openGitAdapter } from '../../server/git/repository/adapter.ts';
import type { GitRepository } from '../../server/git/port.ts';
import {
  leftoversOf,
  makeFixture,
  startTask,
  type Task,
  valueOf,
  type Fixture,
} from './fixture.ts';

suite('git: kinds of repositories', () => {
  const fixtures: Fixture[] = [];
  const fixtureOf = (init: readonly string[] = []): Fixture => {
    const fixture = makeFixture({ init });
    fixtures.push(fixture);
    return fixture;
  };
  teardown(() => {
    for (const fixture of fixtures.splice(0)) fixture.remove();
  });

  const startNext = (fixture: Fixture, repository: GitRepository, id: string): Promise<Task> =>
    startTask(fixture, repository, 's0', id);

  test('with SHA-256, a slot is emptied for its next task, with or without index flags', async () => {
    const fixture = fixtureOf(['--object-format=sha256']);
    const repository = await fixture.open();
    const first = await startNext(fixture, repository, 'one');
    fixture.write(join(first.path, 'README.md'), 'hidden\n');
    fixture.gitIn(first.path, 'update-index', '--assume-unchanged', 'README.md');
    const next = await startNext(fixture, repository, 'two');
    assert.equal(readFileSync(join(next.path, 'README.md'), 'utf8'), 'one\ntwo\nthree\n');
    assert.equal(fixture.git('show', 'refs/drover/work/one/1:README.md'), 'hidden');
    assert.equal(valueOf(await repository.commitLeftovers(leftoversOf(next))).changed, false);
  });

  test("an agent's settings for its worktree do not reach the next task", async () => {
    const fixture = fixtureOf();
    fixture.git('config', 'extensions.worktreeConfig', 'true');
    fixture.git('config', '--worktree', 'core.abbrev', '9');
    const repository = await fixture.open();
    const first = await startNext(fixture, repository, 'one');
    fixture.gitIn(first.path, 'config', '--worktree', 'user.name', 'Agent');
    fixture.gitIn(first.path, 'config', '--worktree', 'core.sparseCheckout', 'true');
    const rules = join(first.path, 'rules');
    fixture.write(rules, '*\n');
    fixture.gitIn(first.path, 'config', '--worktree', 'core.excludesFile', rules);
    const next = await startNext(fixture, repository, 'two');
    const seen = fixture.gitIn(next.path, 'config', '--worktree', '--list');
    assert.equal(seen, 'core.abbrev=9');
    assert.equal(existsSync(rules), false);
    assert.equal(fixture.git('show', 'refs/drover/work/one/1:rules'), '*');
  });

  test('worktree settings that an agent introduced are removed as well', async () => {
    const fixture = fixtureOf();
    const repository = await fixture.open();
    const first = await startNext(fixture, repository, 'one');
    fixture.gitIn(first.path, 'sparse-checkout', 'set', 'src');
    fixture.gitIn(first.path, 'config', '--worktree', 'user.name', 'Agent');
    const next = await startNext(fixture, repository, 'two');
    assert.equal(fixture.gitIn(next.path, 'config', 'user.name'), 'A Person');
    assert.equal(existsSync(join(next.path, 'README.md')), true);
    assert.equal(fixture.gitIn(next.path, 'status', '--porcelain'), '');
  });

  test('a branch named HEAD does not hide the checked-out branch', async () => {
    const fixture = fixtureOf();
    fixture.git('update-ref', 'refs/heads/HEAD', 'HEAD');
    const { headBranch, headSha } = (await fixture.open()).facts;
    assert.deepEqual([headBranch, headSha], ['main', fixture.git('rev-parse', 'refs/heads/main')]);
  });

  test('a path with a line break is read completely', async () => {
    const fixture = fixtureOf();
    const folder = join(fixture.home, 'two\nlines');
    mkdirSync(folder);
    const root = join(folder, 'true');
    renameSync(fixture.root, root);
    const opened = await openGitAdapter({ environment: fixture.environment }).open(root);
    assert.equal(valueOf(opened).facts.root, root);
  });

  test('files of a setup that git does not ignore are not work', async () => {
    const fixture = fixtureOf();
    fixture.write(join(fixture.root, '.gitignore'), '.venv\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'rules');
    const repository = await fixture.open();
    const task = await startNext(fixture, repository, 'one');
    const request = { path: task.path, command: 'make', inputs: [], leave: [], only: false };
    const look = valueOf(await repository.lookAtSetup(request));
    const write = (path: string, text: string): void => fixture.write(join(task.path, path), text);
    write('.venv/bin/python', 'python\n');
    write('made.lock', 'lock\n');
    write('made.cfg', 'as made\n');
    valueOf(await repository.keepSetup(request, look));
    // The task removes the rule, and a tool adds to the environment.
    write('.gitignore', '*.log\n');
    write('.venv/lib/cacert.pem', 'a certificate\n');
    write('made.cfg', 'as the agent wants it\n');
    write('work.txt', 'work\n');
    const done = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    assert.deepEqual(done.held, []);
    const changed = fixture.git('diff', '--name-only', task.base, done.commit).split('\n');
    assert.deepEqual(changed, ['.gitignore', 'made.cfg', 'work.txt']);
    await startTask(fixture, repository, 's0', 'two', done.commit);
    assert.equal(fixture.git('for-each-ref', 'refs/drover/work'), '', 'nothing was left');
    writeFileSync(join(task.path, 'made.lock'), 'changed\n');
    await startTask(fixture, repository, 's0', 'three', done.commit);
    assert.equal(fixture.git('show', 'refs/drover/work/two/1:made.lock'), 'changed');
  });
});
