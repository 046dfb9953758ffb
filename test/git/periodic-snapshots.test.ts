// Snapshots that are taken while an agent works read only folders that have changed since the one
// before. They may never see less than one that asks git without any help.

import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import type { Snapshot, SnapshotReason } from '../../server/git/snapshot-port.ts';
import { removeFolder } from '../remove-folder.ts';
import { makeFixture, startTask, type Task, valueOf, type Fixture } from './fixture.ts';

suite('git: periodic snapshots', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let task: Task;
  setup(async () => {
    fixture = makeFixture();
    fixture.git('config', '--global', 'core.excludesFile', join(fixture.home, 'ignored'));
    fixture.write(join(fixture.home, 'ignored'), '*.mine\n');
    repository = await fixture.open();
    task = await startTask(fixture, repository, 's0', 'task-1');
    write('.gitignore', '*.log\n');
    write('kept/.gitignore', '*.tmp\n');
    write('kept/old.txt', 'old\n');
    write('kept/noise.tmp', 'noise\n');
    mkdirSync(join(task.path, 'empty'));
    inSlot('add', '-A');
    inSlot('commit', '-qm', 'begun');
    write('made/here.txt', 'here\n');
    write('made/noise.log', 'noise\n');
    write('made/own.mine', 'own\n');
    // As if the agent had not touched them for long: nothing is read again because it is new.
    age(task.path);
    await kept();
  });
  teardown(() => fixture.remove());

  const write = (path: string, content: string): void =>
    fixture.write(join(task.path, path), content);
  const inSlot = (...args: readonly string[]): string => fixture.gitIn(task.path, ...args);
  const taken = async (reason: SnapshotReason): Promise<Snapshot> => {
    const request = { path: task.path, label: 'task-1/1', author: 'agent', reason } as const;
    const made = valueOf(await repository.snapshot({ ...request, base: task.base }));
    assert.ok(made !== null);
    return made;
  };
  /** The copy is made for an index that stayed from one snapshot to the next. */
  const kept = async (): Promise<void> => {
    await taken('interval');
    await taken('interval');
    assert.equal(copies().length, 1);
  };
  /** The commit of a periodic snapshot, which holds the same as one that asks git for everything. */
  const seen = async (): Promise<string> => {
    const { commit } = await taken('interval');
    const whole = await taken('failed');
    assert.deepEqual([whole.isNew, whole.commit], [false, commit]);
    await taken('interval');
    await taken('interval');
    return commit;
  };
  const names = (commit: string): string[] =>
    fixture.git('ls-tree', '-r', '--name-only', commit).split('\n');
  const content = (commit: string, path: string): string =>
    fixture.git('show', `${commit}:${path}`);
  const copies = (): string[] => {
    const folder = join(fixture.root, '.git', 'drover-index');
    return readdirSync(folder).map((name) => join(folder, name));
  };

  test('keep one copy of the index with what git knows of each folder, and drop it at the end', async () => {
    const [copy = '', ...others] = copies();
    assert.deepEqual(others, []);
    assert.ok(readFileSync(copy).includes('UNTR'));
    const { ino } = lstatSync(copy);
    await taken('interval');
    assert.deepEqual(copies(), [copy]);
    assert.equal(lstatSync(copy).ino, ino);
    assert.ok(lstatSync(copy).mtimeMs < Date.now() - 1_000);
    inSlot('add', '-A');
    await taken('interval');
    assert.deepEqual(copies(), [], 'an index that has changed may change again soon');
    await taken('interval');
    assert.equal(copies().length, 1);
    await taken('paused');
    assert.deepEqual(copies(), []);
  });

  test('see edits of the same size at once, again and again', async () => {
    for (let round = 10; round < 20; round += 1) {
      write('kept/old.txt', `${round}\n`);
      assert.equal(content((await taken('interval')).commit, 'kept/old.txt'), `${round}`);
      write('made/here.txt', `${round}\n`);
      assert.equal(content((await taken('interval')).commit, 'made/here.txt'), `${round}`);
      write(`made/${round}.txt`, '');
      assert.ok(names((await taken('interval')).commit).includes(`made/${round}.txt`));
    }
    await seen();
  });

  test('see an edit whose time was set back', async () => {
    write('kept/old.txt', 'one\n');
    await taken('interval');
    const { atime, mtime } = lstatSync(join(task.path, 'kept/old.txt'));
    write('kept/old.txt', 'two\n');
    utimesSync(join(task.path, 'kept/old.txt'), atime, mtime);
    assert.equal(content(await seen(), 'kept/old.txt'), 'two');
  });

  test('see modes, links and deletions', async () => {
    chmodSync(join(task.path, 'kept/old.txt'), 0o755);
    assert.match(fixture.git('ls-tree', await seen(), 'kept/old.txt'), /^100755/);
    await taken('interval');
    unlinkSync(join(task.path, 'kept/old.txt'));
    symlinkSync('.gitignore', join(task.path, 'kept/old.txt'));
    assert.match(fixture.git('ls-tree', await seen(), 'kept/old.txt'), /^120000/);
    await taken('interval');
    rmSync(join(task.path, 'made/here.txt'));
    assert.ok(!names(await seen()).includes('made/here.txt'));
    await taken('interval');
    removeFolder(join(task.path, 'made'));
    symlinkSync('kept', join(task.path, 'made'));
    assert.match(fixture.git('ls-tree', await seen(), 'made'), /^120000/);
  });

  for (const folder of ['kept', 'made', 'empty', 'new/deep', 'src', 'made/deep']) {
    test(`see a new file in ${folder}`, async () => {
      write(`${folder}/added.txt`, 'added\n');
      assert.ok(names(await seen()).includes(`${folder}/added.txt`));
    });
  }

  test('see what is not ignored any more, whichever file said so', async () => {
    write('.gitignore', '*.xyz\n');
    assert.ok(names(await seen()).includes('made/noise.log'));
    await taken('interval');
    write('kept/.gitignore', '*.abc\n');
    assert.ok(names(await seen()).includes('kept/noise.tmp'));
    await taken('interval');
    fixture.write(join(fixture.home, 'ignored'), '*.none\n');
    assert.ok(names(await seen()).includes('made/own.mine'));
    fixture.write(join(fixture.root, '.git', 'info', 'exclude'), 'here.txt\n');
    assert.ok(!names(await seen()).includes('made/here.txt'));
    await taken('interval');
    fixture.write(join(fixture.root, '.git', 'info', 'exclude'), 'none.txt\n');
    assert.ok(names(await seen()).includes('made/here.txt'));
  });

  test('see what was only staged, taken back, or committed', async () => {
    write('kept/old.txt', 'staged\n');
    await taken('interval');
    inSlot('add', 'kept/old.txt');
    const staged = await seen();
    assert.match(fixture.git('log', '-1', '--format=%B', staged), /Drover-Index: /);
    await taken('interval');
    inSlot('reset', '-q');
    assert.doesNotMatch(fixture.git('log', '-1', '--format=%B', await seen()), /Drover-Index: /);
    await taken('interval');
    inSlot('rm', '-q', '--cached', 'kept/old.txt');
    await seen();
    await taken('interval');
    inSlot('commit', '-q', '--allow-empty', '-m', 'moved');
    const head = inSlot('rev-parse', 'HEAD');
    assert.equal(fixture.git('rev-parse', `${await seen()}^1`), head);
    await taken('interval');
    inSlot('update-ref', 'HEAD', task.base);
    assert.equal(fixture.git('rev-parse', `${await seen()}^1`), task.base);
  });

  test('respect what the slot hides from git', async () => {
    inSlot('update-index', '--assume-unchanged', 'kept/old.txt');
    inSlot('update-index', '--skip-worktree', 'README.md');
    await taken('interval');
    write('kept/old.txt', 'hidden\n');
    write('README.md', 'hidden\n');
    await seen();
    inSlot('update-index', '--no-assume-unchanged', 'kept/old.txt');
    assert.equal(content(await seen(), 'kept/old.txt'), 'hidden');
  });

  test('see a folder become a repository, and stop to be one', async () => {
    inSlot('init', '-q', 'made');
    assert.ok(!names(await seen()).includes('made/here.txt'));
    await taken('interval');
    removeFolder(join(task.path, 'made', '.git'));
    assert.ok(names(await seen()).includes('made/here.txt'));
  });

  test('see other rules for contents', async () => {
    write('kept/old.txt', 'old\r\n');
    age(join(task.path, 'kept/old.txt'));
    write('.gitattributes', '* text=auto\n');
    // Another index: git writes a new copy, with what it found under these rules.
    write('README.md', 'staged\n');
    inSlot('add', 'README.md');
    await taken('interval');
    write('.gitattributes', '* -text\n');
    assert.equal(fixture.git('cat-file', '-s', `${await seen()}:kept/old.txt`), '5');
    await taken('interval');
    rmSync(join(task.path, '.gitattributes'));
    await seen();
  });

  test('ask git in the ordinary way where the copy is gone, or is another file', async () => {
    write('made/more.txt', 'more\n');
    for (const copy of copies()) rmSync(copy);
    assert.ok(names(await seen()).includes('made/more.txt'));
    await taken('interval');
    for (const copy of copies()) fixture.write(copy, 'no index');
    write('made/most.txt', 'most\n');
    assert.ok(names(await seen()).includes('made/most.txt'));
  });

  test('of one slot at the same time', async () => {
    write('made/more.txt', 'more\n');
    await Promise.all([taken('interval'), taken('interval'), taken('interval')]);
    assert.equal(copies().length, 1);
    assert.ok(names(await seen()).includes('made/more.txt'));
  });
});

const hourS = 3_600;

function age(path: string): void {
  const then = Date.now() / 1000 - hourS;
  const facts = lstatSync(path);
  if (facts.isDirectory()) for (const name of readdirSync(path)) age(join(path, name));
  utimesSync(path, then, then);
}
