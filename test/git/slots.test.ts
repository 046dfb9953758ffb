// Slots: created, reused, repaired; a previous user's leftovers are kept before anything is
// overwritten.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import { removeFolder } from '../remove-folder.ts';
import { kindOf, leftoversOf, makeFixture, startTask, valueOf, type Fixture } from './fixture.ts';
import type { SlotOutcome, SlotRequest } from '../../server/git/slot-port.ts';

suite('git: slots', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let base: string;
  setup(async () => {
    fixture = makeFixture();
    repository = await fixture.open();
    base = fixture.git('rev-parse', 'main');
  });
  teardown(() => fixture.remove());

  const request = (change: Partial<SlotRequest> = {}): SlotRequest => ({
    path: fixture.slot('s0'),
    branch: 'drover/t/1',
    sha: base,
    keepBranch: false,
    dropIgnored: false,
    sparse: null,
    use: 'task',
    ...change,
  });
  const prepare = async (change: Partial<SlotRequest> = {}): Promise<SlotOutcome> =>
    valueOf(await repository.prepareSlot(request(change)));
  const inSlot = (...args: readonly string[]): string => fixture.gitIn(fixture.slot('s0'), ...args);
  const write = (path: string, content: string): void =>
    fixture.write(join(fixture.slot('s0'), path), content);
  /** The slot is on this branch, at this commit, and clean. */
  const assertReady = (branch: string | null, sha = base): void => {
    assert.equal(inSlot('rev-parse', 'HEAD'), sha);
    assert.equal(inSlot('rev-parse', '--abbrev-ref', 'HEAD'), branch ?? 'HEAD');
    assert.equal(inSlot('status', '--porcelain'), '');
  };

  test('a new slot is created, and a used slot is switched', async () => {
    assert.deepEqual(await prepare(), { created: true, keptRef: null });
    assertReady('drover/t/1');
    write('one.txt', '1\n');
    valueOf(
      await repository.commitLeftovers(
        leftoversOf({ path: fixture.slot('s0'), branch: 'drover/t/1', base }),
      ),
    );
    assert.deepEqual(await prepare({ branch: 'drover/t/2' }), { created: false, keptRef: null });
    assertReady('drover/t/2');
    assert.doesNotMatch(readFileSync(join(fixture.root, '.git', 'config'), 'utf8'), /\[branch/);
  });

  test('64 slots requested at once are created, even while others are pruned', async () => {
    const made = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        repository.prepareSlot(
          request({ path: fixture.slot(`n${index}`), branch: `drover/n${index}/1` }),
        ),
      ),
    );
    assert.deepEqual(
      made.map(kindOf),
      made.map(() => 'ok'),
    );
    for (let index = 0; index < 64; index += 1) {
      assert.equal(
        fixture.gitIn(fixture.slot(`n${index}`), 'status', '--porcelain', '--branch'),
        `## drover/n${index}/1`,
      );
    }
    const mixed = await Promise.all([
      ...Array.from({ length: 16 }, (_, index) =>
        repository.removeWorktree({ path: fixture.slot(`n${index}`), label: 'x', force: false }),
      ),
      ...Array.from({ length: 16 }, (_, index) =>
        repository.prepareSlot(
          request({ path: fixture.slot(`m${index}`), branch: `drover/m${index}/1` }),
        ),
      ),
    ]);
    assert.deepEqual(
      mixed.map(kindOf),
      mixed.map(() => 'ok'),
    );
    assert.equal(valueOf(await repository.listWorktrees()).length, 1 + 64);
  });

  test('a base that a remote branch names needs no upstream', async () => {
    const clone = join(fixture.home, 'clone');
    fixture.git('clone', '-q', fixture.root, clone);
    fixture.gitIn(clone, 'config', 'branch.autoSetupMerge', 'always');
    const cloned = valueOf(await fixture.adapter().open(clone));
    const sha = valueOf(await cloned.resolve('origin/main'));
    const made = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        cloned.prepareSlot(
          request({ path: join(fixture.home, 'w', `${index}`), branch: `drover/r${index}/1`, sha }),
        ),
      ),
    );
    assert.deepEqual(
      made.map(kindOf),
      made.map(() => 'ok'),
    );
    const config = readFileSync(join(clone, '.git', 'config'), 'utf8');
    assert.doesNotMatch(config, /branch "drover/);
  });

  test('a worktree that was deleted externally is created again, and staged changes are kept', async () => {
    await prepare();
    write('staged.txt', 'mine\n');
    inSlot('add', '-A');
    removeFolder(fixture.slot('s0'));
    const other = fixture.slot('other');
    await prepare({ path: other, branch: 'drover/o/1' });
    removeFolder(other);
    const outcome = await prepare({ branch: 'drover/t/2' });
    assert.equal(outcome.created, true);
    assert.equal(fixture.git('show', `${outcome.keptRef}:staged.txt`), 'mine');
    assertReady('drover/t/2');
    // Only its own entry was removed; Drover never prunes everything.
    assert.ok(existsSync(join(fixture.root, '.git', 'worktrees', 'other')));
  });

  test('a slot whose filling was interrupted is filled without a snapshot', async () => {
    await prepare();
    writeFileSync(join(fixture.root, '.git', 'worktrees', 's0', 'drover-creating'), '');
    rmSync(join(fixture.root, '.git', 'worktrees', 's0', 'index'));
    removeFolder(join(fixture.slot('s0'), 'src'));
    repository = await fixture.open();
    assert.equal((await prepare({ branch: 'drover/t/2' })).keptRef, null);
    assertReady('drover/t/2');
    assert.equal(
      existsSync(join(fixture.root, '.git', 'worktrees', 's0', 'drover-creating')),
      false,
    );
  });

  test('a slot that was filled by a git that outlived its backend is like any other', async () => {
    await prepare();
    const mark = join(fixture.root, '.git', 'worktrees', 's0', 'drover-creating');
    writeFileSync(mark, '');
    assert.equal((await prepare()).keptRef, null);
    assertReady('drover/t/1');
    assert.equal(existsSync(mark), false);
    write('mine.txt', 'mine\n');
    write('src/.gitignore', '*\n');
    const { keptRef } = await prepare({ branch: 'drover/t/2' });
    assert.equal(fixture.git('show', `${keptRef}:mine.txt`), 'mine');
    assert.equal(inSlot('status', '--porcelain', '--ignored'), '');
  });

  test('files written into a slot before it is filled are kept', async () => {
    await prepare();
    writeFileSync(join(fixture.root, '.git', 'worktrees', 's0', 'drover-creating'), '');
    rmSync(join(fixture.root, '.git', 'worktrees', 's0', 'index'));
    removeFolder(join(fixture.slot('s0'), 'src'));
    write('mine.txt', 'mine\n');
    const { keptRef } = await prepare({ branch: 'drover/t/2' });
    assert.equal(fixture.git('show', `${keptRef}:mine.txt`), 'mine');
    assertReady('drover/t/2');
  });

  test('a foreign folder is refused and left alone', async () => {
    fixture.write(join(fixture.slot('s0'), 'mine.txt'), 'x');
    assert.equal(kindOf(await repository.prepareSlot(request())), 'foreign');
    assert.deepEqual(readdirSync(fixture.slot('s0')), ['mine.txt']);
    assert.equal(kindOf(await repository.prepareSlot(request({ path: fixture.root }))), 'failed');
  });

  test('keepBranch continues the attempt, including uncommitted work', async () => {
    await prepare();
    write('one.txt', '1\n');
    inSlot('add', '-A');
    inSlot('commit', '-qm', 'one');
    const tip = inSlot('rev-parse', 'HEAD');
    write('two.txt', '2\n');
    repository = await fixture.open();
    assert.deepEqual(await prepare({ keepBranch: true }), { created: false, keptRef: null });
    assert.equal(inSlot('status', '--porcelain'), '?? two.txt');
    // In another slot, the branch arrives unchanged, and is detached in the first.
    const other = fixture.slot('s1');
    assert.equal((await prepare({ path: other, keepBranch: true })).created, true);
    assert.equal(fixture.gitIn(other, 'rev-parse', 'HEAD'), tip);
    assert.equal(inSlot('rev-parse', '--abbrev-ref', 'HEAD'), 'HEAD');
    assert.equal(existsSync(join(fixture.slot('s0'), 'two.txt')), true);
    // A missing one is created.
    assert.equal(
      (await prepare({ path: fixture.slot('s2'), branch: 'drover/new/1', keepBranch: true }))
        .created,
      true,
    );
  });

  test('a branch that is reset keeps its commits as a snapshot', async () => {
    await prepare();
    write('one.txt', '1\n');
    inSlot('add', '-A');
    inSlot('commit', '-qm', 'one');
    const tip = inSlot('rev-parse', 'HEAD');
    await prepare();
    assertReady('drover/t/1');
    assert.match(
      fixture.git('for-each-ref', '--contains', tip, '--format=%(refname)'),
      /^refs\/drover\/work\/t\/1$/,
    );
  });

  test('a branch that the user has checked out is not reused', async () => {
    fixture.git('branch', 'drover/t/1');
    const users = join(fixture.home, 'users own');
    fixture.git('worktree', 'add', '-q', users, 'drover/t/1');
    for (const path of [fixture.slot('s0'), fixture.slot('s1')]) {
      const refused = await repository.prepareSlot(request({ path }));
      assert.match(refused.ok ? '' : refused.error.message, /is checked out in .*users own/);
    }
    assert.equal(fixture.gitIn(users, 'rev-parse', '--abbrev-ref', 'HEAD'), 'drover/t/1');
  });

  test('ignored files stay for the next task unless they must be removed', async () => {
    fixture.write(join(fixture.root, '.gitignore'), 'cache/\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'ignore');
    base = fixture.git('rev-parse', 'main');
    await prepare();
    write('cache/x', 'x\n');
    await prepare({ branch: 'drover/t/2' });
    assert.equal(existsSync(join(fixture.slot('s0'), 'cache', 'x')), true);
    await prepare({ branch: 'drover/t/3', dropIgnored: true });
    assert.equal(existsSync(join(fixture.slot('s0'), 'cache')), false);
  });

  for (const path of ['.gitignore', 'src/.gitignore']) {
    test(`files ignored by one task do not become the next task's work (${path})`, async () => {
      await prepare();
      write(path, 'made/\n');
      write(join(path, '..', 'made', 'x'), 'x\n');
      valueOf(
        await repository.commitLeftovers(
          leftoversOf({ path: fixture.slot('s0'), branch: 'drover/t/1', base }),
        ),
      );
      await prepare({ branch: 'drover/t/2' });
      assertReady('drover/t/2');
    });
  }

  test('a gate slot is detached, and files that a gate writes are not work', async () => {
    assert.equal((await prepare({ branch: null, use: 'gate' })).created, true);
    assertReady(null);
    write('report.txt', 'x\n');
    write('README.md', 'x\n');
    assert.deepEqual(await prepare({ branch: null, use: 'gate' }), {
      created: false,
      keptRef: null,
    });
    assertReady(null);
    write('report.txt', 'x\n');
    repository = await fixture.open();
    assert.equal((await prepare()).keptRef, null);
    assertReady('drover/t/1');
  });

  test('an unknown commit is distinguished from damage', async () => {
    const unknown = '1'.repeat(40);
    assert.equal(kindOf(await repository.prepareSlot(request({ sha: unknown }))), 'unknown_ref');
    await prepare();
    assert.equal(
      kindOf(await repository.prepareSlot(request({ sha: unknown, branch: 'drover/t/2' }))),
      'unknown_ref',
    );
    assert.equal(kindOf(await repository.prepareSlot(request({ sha: 'main' }))), 'unknown_ref');
    assert.equal((await prepare({ branch: 'drover/t/3' })).created, false);
  });

  test("a killed agent's lock is waited for, then removed", async () => {
    await prepare();
    const lock = join(fixture.root, '.git', 'worktrees', 's0', 'index.lock');
    writeFileSync(lock, '');
    write('one.txt', '1\n');
    const task = { path: fixture.slot('s0'), branch: 'drover/t/1', base };
    assert.equal(valueOf(await repository.commitLeftovers(leftoversOf(task))).changed, true);
    writeFileSync(lock, '');
    await prepare({ branch: 'drover/t/2' });
    assertReady('drover/t/2');
  });

  test('changes made in a clean slot are detected', async () => {
    const task = { path: fixture.slot('s0'), branch: 'drover/t/1', base };
    await prepare();
    valueOf(await repository.commitLeftovers(leftoversOf(task)));
    inSlot('switch', '-q', '--detach');
    inSlot('commit', '-q', '--allow-empty', '-m', 'by hand');
    const tip = inSlot('rev-parse', 'HEAD');
    const outcome = await prepare({ branch: 'drover/t/2' });
    assert.equal(fixture.git('rev-parse', `${outcome.keptRef}^`), tip);
  });

  test('a sparse slot contains its cone, and becomes complete again', async () => {
    fixture.write(join(fixture.root, 'apps', 'one', 'a.txt'), 'x\n');
    fixture.write(join(fixture.root, 'apps', 'two', 'b.txt'), 'x\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'apps');
    base = fixture.git('rev-parse', 'main');
    await prepare({ sparse: ['apps/one'] });
    assert.deepEqual(readdirSync(join(fixture.slot('s0'), 'apps')), ['one']);
    assert.equal(existsSync(join(fixture.slot('s0'), 'src')), false);
    write('apps/one/new.txt', 'x\n');
    write('apps/two/outside.txt', 'x\n');
    const task = { path: fixture.slot('s0'), branch: 'drover/t/1', base };
    const done = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    assert.equal(
      fixture.git('diff', '--stat', '--name-only', base, done.commit),
      'apps/one/new.txt\napps/two/outside.txt',
    );
    await prepare({ sparse: ['apps/one'], branch: 'drover/t/2' });
    assertReady('drover/t/2');
    repository = await fixture.open();
    await prepare({ branch: 'drover/t/3' });
    assert.equal(existsSync(join(fixture.slot('s0'), 'src', 'a.txt')), true);
    assert.equal(fixture.git('ls-files', '-t', 'src').includes('S '), false);
  });

  test('the slots of a sparse checkout are complete', async () => {
    fixture.git('sparse-checkout', 'set', '--cone', 'nothing');
    assert.equal(existsSync(join(fixture.root, 'src')), false);
    await prepare();
    assertReady('drover/t/1');
    assert.equal(existsSync(join(fixture.slot('s0'), 'src', 'a.txt')), true);
    assert.equal(existsSync(join(fixture.root, 'src')), false);
  });

  test('a slot beyond repair is replaced', async () => {
    await prepare();
    write('mine.txt', 'x\n');
    writeFileSync(join(fixture.root, '.git', 'worktrees', 's0', 'index'), 'no index at all');
    const outcome = await repository.prepareSlot(request({ branch: 'drover/t/2' }));
    valueOf(outcome);
    assertReady('drover/t/2');
    const kept = readdirSync(fixture.slots).find((name) => name.includes('kept'));
    const rescued = outcome.ok ? outcome.value.keptRef : null;
    assert.ok(rescued !== null || kept !== undefined);
    if (rescued) assert.equal(fixture.git('show', `${rescued}:mine.txt`), 'x');
    else
      assert.equal(
        readFileSync(join(fixture.slots, kept ?? '', 'files', 'mine.txt'), 'utf8'),
        'x\n',
      );
  });

  test('no maintenance is started', async () => {
    fixture.git('config', 'gc.auto', '1');
    fixture.git('config', 'gc.autoDetach', 'false');
    const task = await startTask(fixture, repository, 's0', 'task-1');
    write('file.txt', 'x\n');
    valueOf(await repository.commitLeftovers(leftoversOf(task)));
    const packs = readdirSync(join(fixture.root, '.git', 'objects', 'pack'));
    assert.deepEqual(packs, []);
  });
});
