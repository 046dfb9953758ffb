// A folder that git cannot read: git omits it with only a warning, so it may contain work that no
// ref has.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { GitRepository, RemoveOutcome } from '../../server/git/port.ts';
import {
  leftoversOf,
  makeFixture,
  startTask,
  valueOf,
  type Fixture,
  type Task,
} from './fixture.ts';

suite('git: unreadable folders', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let task: Task;
  let folder: string;
  setup(async () => {
    fixture = makeFixture();
    repository = await fixture.open({ binary: gitWithoutPrivileges(fixture) });
    task = await startTask(fixture, repository, 's0', 'task-1');
    folder = join(task.path, 'secret ü');
    fixture.write(join(folder, 'result.txt'), 'mine\n');
    chmodSync(folder, 0o000);
  });
  teardown(() => {
    for (const slot of [
      task.path,
      ...keptFolders().map((name) => join(fixture.slots, name, 'files')),
    ])
      if (existsSync(join(slot, 'secret ü'))) chmodSync(join(slot, 'secret ü'), 0o700);
    fixture.remove();
  });

  const keptFolders = (): string[] =>
    readdirSync(fixture.slots).filter((name) => name.startsWith(`${basename(task.path)}.kept-`));
  const remove = async (force = false): Promise<RemoveOutcome> =>
    valueOf(await repository.removeWorktree({ path: task.path, label: 'task-1/1', force }));

  test('a commit names the folder, and succeeds once the folder is readable', async () => {
    fixture.write(join(task.path, 'more.txt'), 'more\n');
    const refused = await repository.commitLeftovers(leftoversOf(task));
    assert.ok(!refused.ok);
    assert.match(refused.error.message, /secret ü\//u);
    assert.match(refused.error.message, /chmod/u);
    assert.equal(refused.error.retryable, false);
    chmodSync(folder, 0o700);
    const done = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    const names = fixture.git('ls-tree', '-r', '--name-only', done.commit);
    assert.match(names, /more\.txt\nsecret ü\/result\.txt/u);
  });

  test('a snapshot lists the folder as omitted', async () => {
    fixture.write(join(task.path, 'more.txt'), 'more\n');
    const request = {
      path: task.path,
      label: 'task-1/1',
      reason: 'failed',
      author: 'agent',
    } as const;
    const taken = valueOf(await repository.snapshot({ ...request, base: task.base }));
    assert.match(fixture.git('log', '-1', '--format=%B', taken?.ref ?? ''), /secret ü\//u);
  });

  test('the next task gets another slot, and the old slot is moved aside completely', async () => {
    const next = await startTask(fixture, repository, 's0', 'task-2');
    assert.equal(fixture.gitIn(next.path, 'status', '--porcelain'), '');
    assert.equal(existsSync(folder), false);
    const [kept = ''] = keptFolders();
    assert.ok(existsSync(join(fixture.slots, kept, 'files', 'secret ü')));
  });

  test('a slot with an unreadable folder is not removed unless forced, and the reason names it', async () => {
    const outcome = await remove();
    assert.equal(outcome.kind, 'kept');
    assert.match(outcome.kind === 'kept' ? outcome.reason : '', /secret ü\//u);
    assert.ok(existsSync(folder));
    assert.equal((await remove(true)).kind, 'removed');
    assert.equal(existsSync(folder), false);
  });

  test("another user's folder stays, even if forced", async function () {
    if (process.getuid?.() !== 0) return;
    chownSync(folder, 61_003, 61_003);
    const outcome = await remove(true);
    assert.match(outcome.kind === 'kept' ? outcome.reason : '', /secret ü\//u);
    assert.ok(existsSync(folder));
  });

  test('an ignored unreadable folder may contain work', () => {
    const [ignored, missing] = ['secret ü/', 'gone/'].map((path) =>
      JSON.parse(ignoredWorkWithoutPrivileges(task.path, path)),
    );
    assert.match(ignored.reason, /secret ü\/ cannot be read/u);
    assert.deepEqual(missing, { kind: 'files', paths: [] });
  });

  test('a readable empty folder beside it is no obstacle', async () => {
    chmodSync(folder, 0o700);
    mkdirSync(join(task.path, 'empty'));
    assert.equal((await remove()).kind, 'removed');
  });
});

/** Checked in a separate process. */
function ignoredWorkWithoutPrivileges(root: string, ignored: string): string {
  const module = new URL('../../server/git/keep/ignored-files.ts', import.meta.url).href;
  const path = Buffer.from(ignored).toString('latin1');
  const status = JSON.stringify({ entries: [{ kind: 'ignored', path }] });
  const script = `import { ignoredWork } from '${module}';
    console.log(JSON.stringify(await ignoredWork(${JSON.stringify(root)}, ${status})));`;
  const node = [process.execPath, '--no-warnings', '--input-type=module', '-e', script];
  const [program = '', ...args] = process.getuid?.() === 0 ? [...bound, ...node] : node;
  return execFileSync(program, args, { encoding: 'utf8' });
}

const bound = ['setpriv', '--bounding-set', '-dac_override,-dac_read_search'];

/** Permissions then apply to root as well: git runs without the capability to override them. */
function gitWithoutPrivileges(fixture: Fixture): string {
  if (process.getuid?.() !== 0) return 'git';
  const path = join(fixture.home, 'bound-git');
  fixture.write(path, `#!/bin/sh\nexec ${bound.join(' ')} git "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}
