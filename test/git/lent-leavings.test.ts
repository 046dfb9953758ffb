// Leftovers of a confined program in the private folder of its worktree, which it can write: no
// link there leads git or Drover to a file outside, no note there is trusted, and the next user of
// the slot finds none of it.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { LentGit } from '../../server/git/local-port.ts';
import { slotNotes } from '../../server/git/refs/slot-notes.ts';
import type { LocalRepository } from '../../server/git/local-port.ts';
import { removeFolder } from '../remove-folder.ts';
import {
  leftoversOf,
  makeFixture,
  snapshotRef,
  startTask,
  valueOf,
  type Fixture,
  type Task,
} from './fixture.ts';

suite('git: files that a confined program leaves beside its worktree', function () {
  this.timeout(60_000);
  let fixture: Fixture;
  let repository: LocalRepository;
  let task: Task;
  let lent: LentGit;
  /** A file and a folder of the user's. */
  let precious: string;
  let documents: string;
  setup(async () => {
    fixture = makeFixture();
    repository = (await fixture.open()) as LocalRepository;
    task = await startTask(fixture, repository, 's0', 'task-1');
    lent = valueOf(await repository.lend(task.path));
    precious = join(fixture.home, '.bashrc');
    documents = join(fixture.home, 'Documents');
    writeFileSync(precious, 'ref: refs/heads/main\n');
    fixture.write(join(documents, 'config'), 'theirs\n');
    fixture.write(join(documents, 'objects', 'info', 'packs'), 'theirs\n');
    symlinkSync('config', join(documents, 'objects', 'link'));
    fixture.write(join(documents, 'HEAD'), 'theirs\n');
  });
  teardown(() => fixture.remove());

  const inPrivate = (name: string): string => join(lent.gitDir, name);
  const link = (name: string, target: string): void => {
    removeFolder(inPrivate(name));
    symlinkSync(target, inPrivate(name));
  };
  /** Whatever git prints afterwards, it must neither wait nor touch the user's files. */
  const useAgain = async (): Promise<Task> => {
    await snapshotRef(repository, task.path, 'task-1/1').catch(() => null);
    valueOf(await repository.takeBack(task.path));
    await repository.commitLeftovers(leftoversOf(task));
    const next = await startTask(fixture, repository, 's0', 'task-2');
    assert.equal(fixture.gitIn(next.path, 'status', '--porcelain', '--ignored'), '');
    assert.equal(fixture.gitIn(next.path, 'rev-parse', 'HEAD'), next.base);
    return next;
  };
  const everythingIsTheirs = (): void => {
    assert.equal(readFileSync(precious, 'utf8'), 'ref: refs/heads/main\n');
    assert.deepEqual(readdirSync(documents).sort(), ['HEAD', 'config', 'objects']);
    assert.equal(readFileSync(join(documents, 'config'), 'utf8'), 'theirs\n');
    assert.equal(readFileSync(join(documents, 'HEAD'), 'utf8'), 'theirs\n');
    assert.equal(readFileSync(join(documents, 'objects', 'info', 'packs'), 'utf8'), 'theirs\n');
    assert.ok(lstatSync(join(documents, 'objects', 'link')).isSymbolicLink());
    assert.equal(fixture.git('symbolic-ref', 'HEAD'), 'refs/heads/main');
    assert.equal(fixture.git('status', '--porcelain'), '');
  };
  /** The import is refused, and HEAD is written again. */
  const breakObjects = (): void => {
    const folder = join(lent.folder, 'objects', 'ab');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'f'.repeat(38)), 'no object\n');
  };

  for (const name of [
    'HEAD',
    'index',
    'index.lock',
    'ORIG_HEAD',
    'MERGE_HEAD',
    'config.worktree',
    'drover-setup.new',
    'drover-staged.index',
    ...Object.values(slotNotes),
  ]) {
    test(`a link in place of ${name} is harmless`, async () => {
      link(name, precious);
      fixture.write(join(task.path, 'mine.txt'), 'mine\n');
      await useAgain();
      everythingIsTheirs();
    });
  }

  test('a link in place of HEAD with refused objects is harmless', async () => {
    link('HEAD', precious);
    breakObjects();
    await useAgain();
    everythingIsTheirs();
  });

  test("a link in place of HEAD that points to the HEAD of the user's checkout is harmless", async () => {
    link('HEAD', join(fixture.root, '.git', 'HEAD'));
    await useAgain();
    everythingIsTheirs();
  });

  for (const name of ['drover-import', 'logs', 'refs', 'info', 'modules', 'drover-git', 'hooks']) {
    test(`a link to a folder in place of ${name} is harmless`, async () => {
      link(name, documents);
      fixture.write(join(task.path, 'mine.txt'), 'mine\n');
      await useAgain();
      everythingIsTheirs();
    });
  }

  test('a folder in place of HEAD and index and a file in place of logs are harmless', async () => {
    for (const name of ['HEAD', 'index']) {
      removeFolder(inPrivate(name));
      mkdirSync(inPrivate(name));
    }
    removeFolder(inPrivate('logs'));
    writeFileSync(inPrivate('logs'), 'x');
    await useAgain();
  });

  test('pipes in place of HEAD, index and files that git reads in the worktree are harmless', async () => {
    fixture.write(join(task.path, 'deep', 'x.txt'), 'x\n');
    for (const path of [
      inPrivate('index'),
      join(task.path, '.gitignore'),
      join(task.path, '.gitattributes'),
      join(task.path, 'deep', '.gitignore'),
    ]) {
      rmSync(path, { force: true });
      execFileSync('mkfifo', [path]);
    }
    const began = Date.now();
    await useAgain();
    assert.ok(Date.now() - began < 40_000);
  });

  test('a note that it wrote about the setup is not trusted', async () => {
    const request = {
      path: task.path,
      command: 'true',
      inputs: [],
      leave: [],
      only: false,
    } as const;
    const look = valueOf(await repository.lookAtSetup(request));
    writeFileSync(inPrivate(slotNotes.setup), `1\0${look.fingerprint}\0`);
    valueOf(await repository.takeBack(task.path));
    assert.equal(valueOf(await repository.lookAtSetup(request)).stands, false);
  });

  test('a note that it changed is removed, and an unchanged note stays', async () => {
    const before = readFileSync(inPrivate(slotNotes.owner), 'utf8');
    appendFileSync(inPrivate(slotNotes.folder), 'forged');
    writeFileSync(inPrivate(slotNotes.creation), '');
    valueOf(await repository.takeBack(task.path));
    assert.equal(readFileSync(inPrivate(slotNotes.owner), 'utf8'), before);
    assert.equal(existsSync(inPrivate(slotNotes.folder)), false);
    assert.equal(existsSync(inPrivate(slotNotes.creation)), false);
  });

  test('a git folder that it removed or moved costs only its own commits', async () => {
    renameSync(lent.folder, join(lent.gitDir, 'elsewhere'));
    fixture.write(join(task.path, 'mine.txt'), 'mine\n');
    valueOf(await repository.takeBack(task.path));
    const done = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    assert.equal(fixture.git('show', `${done.commit}:mine.txt`), 'mine');
  });

  test('its notes and settings are among the files that it can only read', () => {
    const fixed = new Set(lent.fixedFiles);
    for (const name of [...Object.values(slotNotes), 'config.worktree', 'commondir', 'gitdir'])
      assert.ok(fixed.has(name), name);
    assert.equal(lent.hidden, lent.folder);
  });
});
