// Ignored files that one attempt wrote do not exist for the next one in the same slot.

import assert from 'node:assert/strict';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as tick } from 'node:timers/promises';
import type { GitRepository } from '../../server/git/port.ts';
import type { SetupRequest } from '../../server/git/slot-port.ts';
import {
  leftoversOf,
  makeFixture,
  startTask,
  valueOf,
  type Fixture,
  type Task,
} from './fixture.ts';

suite('git: ignored files that an attempt planted', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let task: Task;
  setup(async () => {
    fixture = makeFixture();
    fixture.write(join(fixture.root, '.gitignore'), 'node_modules/\ndist/\n*.log\n.env\nvendor/\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'ignore');
    repository = await fixture.open();
    task = await startTask(fixture, repository, 's0', 't1');
  });
  teardown(() => fixture.remove());

  const write = (path: string, content = 'x\n'): void =>
    fixture.write(join(task.path, path), content);
  const has = (path: string): boolean => existsSync(join(task.path, path));
  const setUp = async (): Promise<boolean> => {
    const request: SetupRequest = {
      path: task.path,
      command: 'install',
      inputs: [],
      leave: [],
      only: false,
    };
    const look = valueOf(await repository.lookAtSetup(request));
    if (look.stands) return true;
    write('node_modules/a/index.js');
    write('node_modules/.bin/a');
    valueOf(await repository.keepSetup(request, look));
    return false;
  };
  /** Returns when a newly written file has a later time than an earlier one. */
  const untilLater = async (): Promise<void> => {
    const probe = join(fixture.home, 'clock');
    writeFileSync(probe, 'a');
    const before = statSync(probe).ctimeMs;
    while (statSync(probe).ctimeMs <= before) {
      await tick();
      writeFileSync(probe, 'b');
    }
  };
  /** File times have the resolution of the kernel's clock. */
  const start = async (): Promise<void> => {
    await untilLater();
    valueOf(await repository.startWork(task.path));
    await untilLater();
  };
  const next = async (id = 't2'): Promise<void> => {
    task = await startTask(fixture, repository, 's0', id);
  };
  const kept = (path: string): string =>
    fixture.git('show', `refs/drover/work/t1/1-ignored:${path}`);

  for (const isCommitted of [true, false]) {
    const how = isCommitted ? 'committed' : 'interrupted';
    test(`planted files are removed, files of the setup stay, and results are kept (${how})`, async () => {
      await setUp();
      write('src/before.log');
      await start();
      write('node_modules/.bin/tool');
      write('node_modules/evil/deep/index.js');
      write('dist/x', 'result\n');
      write('src/run.log', 'log\n');
      symlinkSync('/tmp', join(task.path, 'node_modules', 'out'));
      write('src/work.txt');
      if (isCommitted) valueOf(await repository.commitLeftovers(leftoversOf(task)));
      await next();
      for (const path of ['node_modules/.bin/tool', 'node_modules/evil', 'dist', 'src/run.log'])
        assert.equal(has(path), false, path);
      assert.deepEqual(readdirSync(join(task.path, 'node_modules')).toSorted(), ['.bin', 'a']);
      assert.equal(has('src/b.txt') || has('README.md'), true);
      assert.equal(has('src/before.log'), true);
      assert.equal(await setUp(), true);
      assert.equal(kept('dist/x'), 'result');
      assert.equal(kept('src/run.log'), 'log');
    });
  }

  test('files of a folder that was moved into an ignored one are saved and then removed', async () => {
    write('dist/old.txt');
    await start();
    renameSync(join(task.path, 'src'), join(task.path, 'dist', 'src'));
    const done = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    assert.deepEqual(done.ignored?.files, ['dist/src/a.txt', 'dist/src/b.txt']);
    await next();
    assert.deepEqual([has('dist/src'), has('dist/old.txt')], [false, true]);
    assert.equal(kept('dist/src/a.txt'), 'a');
  });

  test('a changed file of the setup is removed, so that the setup runs again', async () => {
    await setUp();
    await start();
    write('node_modules/a/index.js', 'evil\n');
    await next();
    assert.equal(has('node_modules/a/index.js'), false);
    assert.equal(await setUp(), false);
    assert.equal(readFileSync(join(task.path, 'node_modules/a/index.js'), 'utf8'), 'x\n');
  });

  test('a file of the setup that got another name elsewhere stays', async () => {
    write('node_modules/a/index.js');
    linkSync(join(task.path, 'node_modules/a/index.js'), join(fixture.root, '..', 'store.js'));
    await setUp();
    await start();
    linkSync(join(task.path, 'node_modules/a/index.js'), join(fixture.root, '..', 'other.js'));
    await next();
    assert.equal(has('node_modules/a/index.js'), true);
  });

  test('secrets and repositories, which no snapshot contains, are moved beside the slot', async () => {
    await start();
    write('.env', 'TOKEN=x\n');
    mkdirSync(join(task.path, 'vendor', 'lib'), { recursive: true });
    fixture.gitIn(join(task.path, 'vendor', 'lib'), 'init', '-q');
    await next();
    assert.equal(has('.env') || has('vendor'), false);
    const beside = readdirSync(join(task.path, '..')).filter((name) => name.includes('.kept-'));
    assert.equal(beside.length, 1);
    const place = join(task.path, '..', beside[0] ?? '');
    assert.equal(readFileSync(join(place, '.env'), 'utf8'), 'TOKEN=x\n');
    assert.equal(existsSync(join(place, 'vendor/lib/.git/HEAD')), true);
  });

  test('the same attempt finds its own files again', async () => {
    await start();
    write('dist/x');
    await next('t1');
    assert.equal(has('dist/x'), true);
    valueOf(await repository.startWork(task.path));
    await next('t2');
    assert.equal(has('dist/x'), false);
  });
});
