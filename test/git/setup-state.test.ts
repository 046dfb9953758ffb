// The setup state of a slot: recorded in its private git folder, and compared with the slot's
// files.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, linkSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import { removeFolder } from '../remove-folder.ts';
import { makeFixture, startTask, valueOf, type Fixture } from './fixture.ts';
import type { SetupLook, SetupRequest } from '../../server/git/slot-port.ts';

suite('git: setup state', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let path: string;
  setup(async () => {
    fixture = makeFixture();
    fixture.write(join(fixture.root, '.gitignore'), 'deps/\n*.local\n');
    fixture.write(join(fixture.root, 'package.json'), '{}\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'a package');
    repository = await fixture.open();
    ({ path } = await startTask(fixture, repository, 's0', 't1'));
  });
  teardown(() => fixture.remove());

  const request = (change: Partial<SetupRequest> = {}): SetupRequest => ({
    path,
    command: 'install',
    inputs: [],
    leave: [],
    only: false,
    ...change,
  });
  const look = async (change: Partial<SetupRequest> = {}): Promise<SetupLook> =>
    valueOf(await repository.lookAtSetup(request(change)));
  const stands = async (change: Partial<SetupRequest> = {}): Promise<boolean> =>
    (await look(change)).stands;
  const write = (name: string, text = 'x\n'): void => fixture.write(join(path, name), text);
  const has = (name: string): boolean => existsSync(join(path, name));
  const setUp = async (change: Partial<SetupRequest> = {}): Promise<void> => {
    const seen = await look(change);
    write('deps/a/one.js');
    write('deps/b.js');
    valueOf(await repository.keepSetup(request(change), seen));
  };

  test('an input that is a pipe or a device has no content, and is never waited for', async () => {
    execFileSync('mkfifo', [join(path, 'pipe.local')]);
    symlinkSync('/dev/zero', join(path, 'zero.local'));
    for (const name of ['pipe.local', 'zero.local'])
      assert.equal((await look({ inputs: [name] })).stands, false, name);
  });

  test('it is valid after the setup until one of its files is changed or removed', async () => {
    assert.equal(await stands(), false);
    await setUp();
    assert.equal(await stands(), true);
    write('deps/cache/new.js');
    write('other.local');
    linkSync(join(path, 'deps/b.js'), join(fixture.home, 'second name'));
    await setUp();
    linkSync(join(path, 'deps/b.js'), join(fixture.home, 'third name'));
    assert.equal(await stands(), true, 'what was added, and further names of a file, do not count');
    write('deps/a/one.js', 'changed\n');
    assert.equal(await stands(), false);
    await setUp();
    removeFolder(join(path, 'deps/a'));
    assert.equal(await stands(), false);
  });

  test('it does not vouch for leftovers of earlier tasks', async () => {
    await setUp();
    write('build.local', 'of the first task\n');
    await look({ command: 'install again' });
    await setUp({ command: 'install again' });
    write('build.local', 'of the second task\n');
    assert.equal(await stands({ command: 'install again' }), true);
  });

  test('another command, input or manifest gives another state', async () => {
    await setUp();
    assert.equal(await stands({ command: 'other' }), false);
    await setUp({ inputs: ['deps.lock', '../outside'] });
    assert.equal(await stands({ inputs: ['deps.lock', '../outside'] }), true);
    write('deps.lock');
    assert.equal(await stands({ inputs: ['deps.lock', '../outside'] }), false);
    await setUp();
    write('package.json', '{"name": "other"}\n');
    fixture.gitIn(path, 'commit', '-qam', 'another package');
    assert.equal(await stands(), false);
  });

  test('a recreated worktree has none', async () => {
    await setUp();
    removeFolder(path);
    await startTask(fixture, repository, 's0', 't2');
    assert.equal(await stands(), false);
  });

  test("the setup's changes in tracked files are reverted, but earlier changes are not", async () => {
    write('README.md', 'work\n');
    const seen = await look();
    write('package.json', '{"by": "setup"}\n');
    rmSync(join(path, 'src/a.txt'));
    valueOf(await repository.keepSetup(request(), seen));
    const status = valueOf(await repository.status(path));
    assert.deepEqual(status.changed, ['README.md']);
  });

  test("a gate folder keeps only the setup's files", async () => {
    const only = { only: true, leave: ['kept/by/name.local'] };
    write('left.local');
    write('untracked.txt');
    write('kept/by/name.local');
    write('kept/by/other.local');
    await setUp(only);
    assert.deepEqual(
      ['left.local', 'untracked.txt', 'kept/by/other.local', 'kept/by/name.local'].map(has),
      [false, false, false, true],
    );
    write('deps/a/two.js');
    write('deps/new/three.js');
    write('left.local');
    assert.equal(await stands(only), true);
    assert.deepEqual(['deps/a/one.js', 'deps/b.js', 'kept/by/name.local'].map(has), [
      true,
      true,
      true,
    ]);
    assert.deepEqual(['deps/a/two.js', 'deps/new', 'left.local'].map(has), [false, false, false]);
    write('deps/b.js', 'changed\n');
    assert.equal(await stands(only), false);
    assert.equal(has('deps'), false, 'set up from nothing');
  });
});
