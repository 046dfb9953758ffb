// Snapshots keep a slot's content, whoever left it there and whatever happens to the slot next.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import type { Snapshot, SnapshotReason } from '../../server/git/snapshot-port.ts';
import {
  leftoversOf,
  makeFixture,
  startTask,
  type Task,
  valueOf,
  type Fixture,
} from './fixture.ts';

suite('git: snapshots', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let task: Task;
  setup(async () => {
    fixture = makeFixture();
    repository = await fixture.open();
    task = await startTask(fixture, repository, 's0', 'task-1');
  });
  teardown(() => fixture.remove());

  const write = (path: string, content: string): void =>
    fixture.write(join(task.path, path), content);
  const inSlot = (...args: readonly string[]): string => fixture.gitIn(task.path, ...args);
  const snapshot = async (reason: SnapshotReason = 'failed'): Promise<Snapshot | null> => {
    const request = {
      path: task.path,
      label: 'task-1/1',
      author: 'agent',
      base: task.base,
    } as const;
    return valueOf(await repository.snapshot({ ...request, reason }));
  };
  const taken = async (reason?: SnapshotReason): Promise<Snapshot> => {
    const made = await snapshot(reason);
    assert.ok(made !== null);
    return made;
  };
  const names = (commit: string): string[] =>
    fixture.git('ls-tree', '-r', '--name-only', commit).split('\n');
  const holders = (sha: string): string =>
    fixture.git('for-each-ref', '--contains', sha, '--format=%(refname)');

  test('they contain changes, deletions, new files, modes and links, and leave the index, HEAD and files unchanged', async () => {
    write('README.md', 'changed\n');
    write('new/deep.txt', 'mine\n');
    rmSync(join(task.path, 'src', 'b.txt'));
    write('run.sh', '#!/bin/sh\n');
    chmodSync(join(task.path, 'run.sh'), 0o755);
    symlinkSync('README.md', join(task.path, 'link'));
    write('.gitignore', '*.log\n');
    write('noise.log', 'x\n');
    write('src/a.txt', 'staged\n');
    inSlot('add', 'src/a.txt');
    const before = inSlot('status', '--porcelain', '--branch');
    const { ref, commit, isNew } = await taken();
    assert.equal(inSlot('status', '--porcelain', '--branch'), before);
    assert.deepEqual([ref, isNew], ['refs/drover/work/task-1/1', true]);
    assert.equal(fixture.git('rev-parse', `${commit}^1`), task.base);
    const held = ['.gitignore', 'README.md', 'link', 'new/deep.txt', 'run.sh', 'src/a.txt'];
    assert.deepEqual(names(commit), held);
    assert.match(fixture.git('ls-tree', commit, 'run.sh', 'link'), /^120000[^]*^100755/m);
    const staged = fixture.git('rev-parse', `${commit}^2`);
    assert.equal(fixture.git('show', `${staged}:src/a.txt`), 'staged');
    assert.equal(fixture.git('show', `${staged}:README.md`), 'one\ntwo\nthree');
  });

  test("a killed agent's lock on the slot is respected before its death and ignored afterwards", async () => {
    const lock = join(fixture.root, '.git', 'worktrees', 's0', 'index.lock');
    write('README.md', 'half\n');
    writeFileSync(lock, '');
    await taken('interval');
    assert.ok(existsSync(lock));
    await snapshot('death');
    assert.ok(!existsSync(lock));
    inSlot('add', 'README.md');
    assert.equal(inSlot('status', '--porcelain').trim(), 'M  README.md');
  });

  test('they form a chain, and an unchanged state adds none', async () => {
    write('one.txt', '1\n');
    const first = await taken('interval');
    assert.equal((await taken('interval')).isNew, false);
    write('two.txt', '2\n');
    const second = await taken('paused');
    assert.equal(fixture.git('rev-parse', `${second.commit}^2`), first.commit);
    repository = await fixture.open();
    const again = await taken('stopped');
    assert.deepEqual([again.commit, again.isNew], [second.commit, false]);
    rmSync(join(task.path, 'one.txt'));
    rmSync(join(task.path, 'two.txt'));
    assert.equal(await snapshot(), null);
    assert.match(holders(first.commit), /refs\/drover\/work\/task-1\/1/);
  });

  test('they contain both sides of an unfinished merge', async () => {
    fixture.git('branch', 'side', task.base);
    write('README.md', 'task\n');
    inSlot('commit', '-qam', 'task');
    const other = join(fixture.home, 'other');
    fixture.git('worktree', 'add', '-q', other, 'side');
    fixture.write(join(other, 'README.md'), 'side\n');
    fixture.gitIn(other, 'commit', '-qam', 'side');
    const side = fixture.gitIn(other, 'rev-parse', 'HEAD');
    assert.throws(() => inSlot('merge', 'side'));
    const { commit } = await taken();
    fixture.git('worktree', 'remove', '--force', other);
    fixture.git('branch', '-D', 'side');
    assert.match(fixture.git('show', `${commit}:README.md`), /<<<<<<<[^]*>>>>>>>/);
    assert.match(holders(side), /refs\/drover\/work\/task-1\/1/);
  });

  /** The slot's next use after its task was committed and has ended. */
  const next = async (branch = 'drover/task-2/1'): Promise<string | null> => {
    const request = { path: task.path, branch, sha: task.base, keepBranch: false } as const;
    const rest = { dropIgnored: false, sparse: null, use: 'task' } as const;
    return valueOf(await repository.prepareSlot({ ...request, ...rest })).keptRef;
  };
  const detached = async (sha: string): Promise<void> => {
    const request = { path: task.path, branch: null, sha, keepBranch: false } as const;
    const rest = { dropIgnored: false, sparse: null, use: 'task' } as const;
    valueOf(await repository.prepareSlot({ ...request, ...rest }));
  };

  test("D3: a person's edits and commits in a finished task's slot are kept when the next task empties it", async () => {
    write('done.txt', 'done\n');
    const done = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    // Like the sweep after the work has landed.
    await detached(done.commit);
    write('README.md', 'by hand\n');
    inSlot('commit', '-qam', 'by hand');
    const tip = inSlot('rev-parse', 'HEAD');
    write('added.txt', 'by hand too\n');
    repository = await fixture.open();
    const kept = (await next()) ?? '';
    assert.equal(kept, 'refs/drover/work/task-1/1');
    assert.equal(fixture.git('show', `${kept}:added.txt`), 'by hand too');
    assert.match(holders(tip), /refs\/drover\/work\/task-1\/1/);
    assert.match(fixture.git('show', '-s', '--format=%B', kept), /^Drover-Author: unknown$/m);
    assert.equal(inSlot('status', '--porcelain'), '');
  });

  test("H1: a failed part's files are kept, but the next task does not find them", async () => {
    write('part-1.txt', '1\n');
    valueOf(await repository.commitLeftovers(leftoversOf(task)));
    // Nothing that git tracks is touched: neither HEAD nor the index.
    mkdirSync(join(task.path, 'out'));
    writeFileSync(join(task.path, 'out', 'half.txt'), 'half\n');
    write('README.md', 'half\n');
    const kept = (await next()) ?? '';
    assert.equal(kept, 'refs/drover/work/task-1/1');
    assert.equal(fixture.git('show', `${kept}:out/half.txt`), 'half');
    assert.equal(fixture.git('show', `${kept}:README.md`), 'half');
    assert.equal(existsSync(join(task.path, 'out')), false);
    assert.equal(inSlot('status', '--porcelain'), '');
  });

  const slotAt = async (path: string, branch: string, sha: string): Promise<void> => {
    const request = { path, branch, sha, keepBranch: false, dropIgnored: false } as const;
    valueOf(await repository.prepareSlot({ ...request, sparse: null, use: 'task' }));
  };

  test('H3: a snapshot is restored into another slot with HEAD, staged changes and files', async () => {
    write('one.txt', '1\n');
    inSlot('add', '-A');
    inSlot('commit', '-qm', 'one');
    write('README.md', 'changed\n');
    rmSync(join(task.path, 'src', 'b.txt'));
    write('src/a.txt', 'staged\n');
    inSlot('add', 'src/a.txt');
    write('new.txt', 'new\n');
    const before = inSlot('status', '--porcelain');
    const { commit } = await taken('paused');
    const last = valueOf(await repository.lastSnapshot('task-1/1'));
    assert.equal(last?.commit, commit);
    assert.deepEqual([last?.reason, last?.branch], ['paused', `refs/heads/${task.branch}`]);
    await slotAt(task.path, 'drover/task-2/1', task.base);
    const path = fixture.slot('s1');
    await slotAt(path, task.branch, last?.head ?? '');
    assert.equal(valueOf(await repository.restore({ path, commit })).kind, 'restored');
    assert.equal(fixture.gitIn(path, 'status', '--porcelain'), before);
    assert.equal(fixture.gitIn(path, 'rev-parse', 'HEAD'), last?.head);
  });

  test('a snapshot is restored on top of later landings, or not at all', async () => {
    write('README.md', 'one\ntwo\nthree\nfour\n');
    write('new.txt', 'new\n');
    const { commit } = await taken('failed');
    fixture.write(join(fixture.root, 'src', 'a.txt'), 'landed\n');
    fixture.git('commit', '-qam', 'landed');
    const path = fixture.slot('s1');
    await slotAt(path, 'drover/task-1/2', fixture.git('rev-parse', 'main'));
    assert.equal(valueOf(await repository.restore({ path, commit })).kind, 'restored');
    assert.equal(fixture.gitIn(path, 'status', '--porcelain'), ' M README.md\n?? new.txt');
    assert.equal(valueOf(await repository.restore({ path, commit })).kind, 'occupied');
    fixture.write(join(fixture.root, 'README.md'), 'zero\n');
    fixture.git('commit', '-qam', 'contradicts');
    const other = fixture.slot('s2');
    await slotAt(other, 'drover/task-1/3', fixture.git('rev-parse', 'main'));
    assert.equal(valueOf(await repository.restore({ path: other, commit })).kind, 'conflict');
    assert.equal(fixture.gitIn(other, 'status', '--porcelain'), '');
  });

  for (const [name, first] of [
    ['the first commit of all', false],
    ['a later commit', true],
  ] as const) {
    test(`a snapshot is restored even if its base, ${name}, was amended`, async () => {
      if (first) {
        fixture.write(join(fixture.root, 'plain.txt'), 'plain\n');
        fixture.git('add', '-A');
        fixture.git('commit', '-qm', 'before it');
      }
      fixture.write(join(fixture.root, 'secret.txt'), 'token\n');
      fixture.git('add', '-A');
      fixture.git('commit', '-q', ...(first ? ['-m', 'with a secret'] : ['--amend', '--no-edit']));
      task = await startTask(fixture, repository, 's3', 'task-2');
      write('new.txt', 'new\n');
      const { commit } = await taken('failed');
      fixture.git('rm', '-q', 'secret.txt');
      fixture.write(join(fixture.root, 'README.md'), 'amended\n');
      fixture.git('commit', '-qa', '--amend', '--no-edit');
      const path = fixture.slot('s1');
      await slotAt(path, 'drover/task-2/2', fixture.git('rev-parse', 'main'));
      assert.equal(valueOf(await repository.restore({ path, commit })).kind, 'restored');
      assert.equal(fixture.gitIn(path, 'status', '--porcelain'), '?? new.txt');
    });
  }
});
