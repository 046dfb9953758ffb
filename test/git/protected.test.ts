// Which changed files wait for a review: determined by name, whoever committed them.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
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

suite('git: protected files', () => {
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

  test('changed protected files are reported, committed or not, but reverted changes are not', async () => {
    fixture.write(join(fixture.root, '.gitattributes'), '* text\n');
    fixture.write(join(fixture.root, 'CLAUDE.md'), 'Be kind.\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'protected');
    task = await startTask(fixture, repository, 's0', 'task-2');
    const protect = ['.gitattributes', '.claude', 'CLAUDE.md', '.mcp.json'];
    write('pkg/.claude/settings.json', '{}\n');
    write('CLAUDE.md', 'Be rude.\n');
    inSlot('add', '-A');
    inSlot('commit', '-qm', 'mine');
    rmSync(join(task.path, '.gitattributes'));
    write('CLAUDE.md', 'Be kind.\n');
    write('.mcp.json', '{}\n');
    const done = valueOf(await repository.commitLeftovers({ ...leftoversOf(task), protect }));
    assert.deepEqual(done.protected, ['.gitattributes', '.mcp.json', 'pkg/.claude/settings.json']);
    assert.deepEqual(done.held, []);
  });

  test("a protected file that only the agent's commit removed is reported", async () => {
    inSlot('rm', '-q', 'README.md');
    inSlot('commit', '-qm', 'mine');
    const protect = ['README.md'];
    const done = valueOf(await repository.commitLeftovers({ ...leftoversOf(task), protect }));
    assert.deepEqual(done.protected, ['README.md']);
  });
});
