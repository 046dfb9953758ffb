// A folder is used only while it is verified as Drover's, and starts each attempt exactly at its
// base.

import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { openGitAdapter } from '../../server/git/repository/adapter.ts';
import type { GitRepository, GitResult } from '../../server/git/port.ts';
import {
  kindOf,
  leftoversOf,
  makeFixture,
  startTask,
  type Task,
  valueOf,
  type Fixture,
} from './fixture.ts';
import type { SlotOutcome } from '../../server/git/slot-port.ts';

suite('git: a slot belongs to Drover and equals its base', () => {
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
  const prepare = (
    change: { readonly branch?: string; readonly path?: string } = {},
    by = repository,
  ): Promise<GitResult<SlotOutcome>> =>
    by.prepareSlot({
      path: task.path,
      branch: 'drover/task-2/1',
      sha: task.base,
      keepBranch: false,
      dropIgnored: false,
      sparse: null,
      use: 'task',
      ...change,
    });

  test('D1: a copied repository leaves the slots of the original alone', async () => {
    write('precious.txt', 'mine\n');
    const copy = join(fixture.home, 'copy');
    cpSync(fixture.root, copy, { recursive: true });
    const copied = valueOf(await openGitAdapter({ environment: fixture.environment }).open(copy));
    const pointer = readFileSync(join(task.path, '.git'), 'utf8');
    assert.equal(kindOf(await prepare({}, copied)), 'foreign');
    assert.equal(kindOf(await copied.status(task.path)), 'foreign');
    assert.equal(kindOf(await copied.commitLeftovers(leftoversOf(task))), 'failed');
    const removed = await copied.removeWorktree({ path: task.path, label: 'x', force: true });
    assert.equal(valueOf(removed).kind, 'kept');
    // Its own attempt continues elsewhere, on the branch that its records show as checked out in
    // the original's slot.
    const path = join(fixture.home, 'copy.worktrees', 's0');
    assert.equal(kindOf(await prepare({ path, branch: task.branch }, copied)), 'ok');
    assert.equal(readFileSync(join(task.path, '.git'), 'utf8'), pointer);
    assert.equal(readFileSync(join(task.path, 'precious.txt'), 'utf8'), 'mine\n');
    assert.equal(inSlot('rev-parse', '--abbrev-ref', 'HEAD'), task.branch);
  });

  test('a repository that was moved finds its slots again', async () => {
    write('mine.txt', 'mine\n');
    const elsewhere = join(fixture.home, 'elsewhere');
    renameSync(fixture.root, elsewhere);
    const moved = valueOf(
      await openGitAdapter({ environment: fixture.environment }).open(elsewhere),
    );
    assert.deepEqual(valueOf(await moved.status(task.path)).untracked, ['mine.txt']);
    assert.equal(kindOf(await prepare({}, moved)), 'ok');
  });

  test("V1: a slot folder that was replaced with a link or a person's folder is not touched", async () => {
    const own = join(fixture.home, 'own');
    mkdirSync(own);
    writeFileSync(join(own, 'mine.txt'), 'mine\n');
    renameSync(task.path, `${task.path}.moved`);
    symlinkSync(own, task.path);
    assert.equal(kindOf(await prepare()), 'foreign');
    assert.equal(readFileSync(join(own, 'mine.txt'), 'utf8'), 'mine\n');
    assert.equal(existsSync(join(own, '.git')), false);
    assert.equal(lstatSync(task.path).isSymbolicLink(), true);
  });

  test("V1: a person's folder in place of a slot is not touched", async () => {
    renameSync(task.path, `${task.path}.moved`);
    write('mine.txt', 'mine\n');
    assert.equal(kindOf(await prepare()), 'foreign');
    assert.equal(readFileSync(join(task.path, 'mine.txt'), 'utf8'), 'mine\n');
    assert.equal(existsSync(join(task.path, '.git')), false);
  });

  for (const folder of ['', 'src/', 'fresh/']) {
    test(`D6: an ignore file in "${folder}" that ignores itself hides no later work`, async () => {
      write(`${folder}.gitignore`, '*\n');
      write(`${folder}hidden.txt`, 'of the first\n');
      const kept = valueOf(await prepare()).keptRef ?? '';
      assert.equal(fixture.git('show', `${kept}:${folder}hidden.txt`), 'of the first');
      assert.equal(existsSync(join(task.path, folder, '.gitignore')), false);
      assert.equal(existsSync(join(task.path, folder, 'hidden.txt')), false);
      write(`${folder}work.txt`, 'of the second\n');
      const second = { ...task, branch: 'drover/task-2/1' };
      const done = valueOf(await repository.commitLeftovers(leftoversOf(second)));
      assert.equal(fixture.git('show', `${done.commit}:${folder}work.txt`), 'of the second');
    });
  }

  test('a slot that was checked before is checked again each time', async () => {
    const isKnown = async (path: string): Promise<boolean> => (await repository.status(path)).ok;
    assert.equal(await isKnown(task.path), true);
    const books = join(fixture.root, '.git', 'worktrees');
    // Under another name in the records.
    renameSync(join(books, 's0'), join(books, 'renamed'));
    writeFileSync(join(task.path, '.git'), `gitdir: ${join(books, 'renamed')}\n`);
    assert.equal(await isKnown(task.path), true);
    // A later entry for the same folder is not mistaken for it.
    cpSync(join(books, 'renamed'), join(books, 'a-copy'), { recursive: true });
    writeFileSync(join(books, 'a-copy', 'HEAD'), 'ref: refs/heads/elsewhere\n');
    const status = valueOf(await repository.status(task.path));
    assert.equal(status.branch, 'drover/task-1/1');
    // Forgotten, or elsewhere.
    for (const name of ['renamed', 'a-copy']) {
      writeFileSync(join(books, name, 'gitdir'), join(fixture.slot('elsewhere'), '.git'));
    }
    assert.equal(await isKnown(task.path), false);
  });

  test('files that an agent hid from git are removed like everything else', async () => {
    inSlot('update-index', '--assume-unchanged', 'README.md');
    inSlot('update-index', '--skip-worktree', 'src/a.txt');
    write('README.md', 'unseen\n');
    write('src/a.txt', 'unseen too\n');
    const kept = valueOf(await prepare()).keptRef ?? '';
    assert.equal(fixture.git('show', `${kept}:README.md`), 'unseen');
    assert.equal(fixture.git('show', `${kept}:src/a.txt`), 'unseen too');
    assert.equal(readFileSync(join(task.path, 'README.md'), 'utf8'), 'one\ntwo\nthree\n');
    assert.equal(readFileSync(join(task.path, 'src', 'a.txt'), 'utf8'), 'a\n');
    assert.doesNotMatch(inSlot('ls-files', '-v'), /^[a-zS]/m);
  });
});
