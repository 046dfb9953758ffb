// A snapshot of changed files is made without an index of all the others. It must hold just what
// git would have put into one.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import { removeFolder } from '../remove-folder.ts';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { sized, testSeed } from '../tier.ts';
import {
  leftoversOf,
  makeFixture,
  startTask,
  valueOf,
  type Fixture,
  type Task,
} from './fixture.ts';

interface Slot extends Task {
  readonly fixture: Fixture;
  readonly repository: GitRepository;
}

async function slotOf(fixture: Fixture, config: readonly string[] = []): Promise<Slot> {
  if (config.length > 0) fixture.git('config', ...config);
  const repository = await fixture.open();
  const task = await startTask(fixture, repository, 's0', 'task-1');
  return { ...task, fixture, repository };
}

const write = (slot: Slot, path: string, content: string | Uint8Array): void =>
  slot.fixture.write(join(slot.path, path), content);

const inSlot = (slot: Slot, ...args: readonly string[]): string =>
  slot.fixture.gitIn(slot.path, ...args);

/** The tree of the snapshot. */
async function taken({ repository, path, fixture }: Slot): Promise<string> {
  const made = valueOf(
    await repository.snapshot({
      path,
      label: 'task-1/1',
      reason: 'interval',
      author: 'agent',
      base: null,
    }),
  );
  return fixture.git('rev-parse', `${made?.commit ?? ''}^{tree}`);
}

/** What git makes of the same folder through its own index. */
function asGit({ fixture, path }: Slot): string {
  const file = join(fixture.home, 'other-index');
  const own = fixture.gitIn(path, 'rev-parse', '--path-format=absolute', '--git-path', 'index');
  const environment = { ...fixture.environment, GIT_INDEX_FILE: file };
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: path, env: environment, encoding: 'utf8' }).trim();
  rmSync(file, { force: true });
  execFileSync('cp', ['-p', own, file]);
  git('add', '-A');
  return git('write-tree');
}

async function isAsGit(slot: Slot): Promise<void> {
  const tree = await taken(slot);
  const expected = asGit(slot);
  if (tree !== expected) assert.equal(inSlot(slot, 'diff', '--stat', expected, tree), '');
  assert.equal(tree, expected);
}

suite('git: trees of changed files', () => {
  let slot: Slot;
  setup(async () => {
    slot = await slotOf(makeFixture());
  });
  teardown(() => slot.fixture.remove());

  test('are those that git makes', async () => {
    write(slot, 'src/a.txt', 'changed\n');
    write(slot, 'made/deep/er.txt', 'made\n');
    rmSync(join(slot.path, 'src', 'b.txt'));
    chmodSync(join(slot.path, 'README.md'), 0o755);
    symlinkSync('src/a.txt', join(slot.path, 'link'));
    await isAsGit(slot);
    removeFolder(join(slot.path, 'src'));
    rmSync(join(slot.path, 'README.md'));
    rmSync(join(slot.path, 'link'));
    removeFolder(join(slot.path, 'made'));
    await isAsGit(slot);
    assert.equal(slot.fixture.git('fsck', '--strict', '--no-dangling'), '');
  });

  test('are the same where ids are long', async () => {
    slot.fixture.remove();
    slot = await slotOf(makeFixture({ init: ['--object-format=sha256'] }));
    write(slot, 'src/a.txt', 'changed\n');
    await isAsGit(slot);
  });

  test('are the same where the trees of HEAD are packed', async () => {
    slot.fixture.git('gc', '-q', '--prune=now');
    write(slot, 'src/a.txt', 'changed\n');
    await isAsGit(slot);
    write(slot, 'src/a.txt', 'changed again\n');
    write(slot, 'src/c.txt', 'more\n');
    await isAsGit(slot);
    write(slot, 'elsewhere/c.txt', 'more\n');
    await isAsGit(slot);
  });

  test('keep what stands beside, however it is sorted', async () => {
    for (const name of ['a', 'a-b', 'a.b', 'a0', 'a/b/c', 'ä/ö', 'a b/"c"', 'a\tb/c\nd']) {
      write(slot, `x/${name === 'a' ? 'a_' : name}`, `${name}\n`);
      write(slot, `x/${name.replaceAll('/', '-')}.d/e`, `${name}\n`);
    }
    inSlot(slot, 'add', '-A');
    inSlot(slot, 'commit', '-qm', 'many names');
    for (const name of ['a0', 'a/b/c', 'ä/ö', 'a b/"c"', 'a\tb/c\nd', 'a-b.d/e', 'a0/'])
      if (!name.endsWith('/')) write(slot, `x/${name}`, 'changed\n');
    await isAsGit(slot);
  });

  test('know a file that has become a folder, and the other way round', async () => {
    removeFolder(join(slot.path, 'src'));
    write(slot, 'src', 'a file\n');
    rmSync(join(slot.path, 'README.md'));
    write(slot, 'README.md/now/a/folder', 'deep\n');
    await isAsGit(slot);
    inSlot(slot, 'add', '-A');
    inSlot(slot, 'commit', '-qm', 'turned');
    rmSync(join(slot.path, 'src'));
    write(slot, 'src/a.txt', 'a file again\n');
    removeFolder(join(slot.path, 'README.md'));
    symlinkSync('src', join(slot.path, 'README.md'));
    await isAsGit(slot);
  });
});

suite('git: folders that have become links', () => {
  let slot: Slot;
  setup(async () => {
    slot = await slotOf(makeFixture());
  });
  teardown(() => slot.fixture.remove());

  for (const [where, prepare] of [
    ['nowhere', () => undefined],
    ['to the same files', () => renameSync(join(slot.path, 'src'), join(slot.path, 'moved'))],
    ['and that is ignored', () => write(slot, '.gitignore', '/src\n/moved\n')],
  ] as const) {
    const becomeLink = (): void => {
      prepare();
      removeFolder(join(slot.path, 'src'));
      symlinkSync('moved', join(slot.path, 'src'));
    };

    test(`${where} are kept in a snapshot`, async () => {
      becomeLink();
      await isAsGit(slot);
    });

    test(`${where} are committed`, async () => {
      becomeLink();
      const expected = asGit(slot);
      const done = valueOf(await slot.repository.commitLeftovers(leftoversOf(slot)));
      assert.deepEqual([done.tree, done.held], [expected, []]);
    });
  }
});

suite('git: trees of changed files that need a whole index', () => {
  let slot: Slot;
  setup(async () => {
    slot = await slotOf(makeFixture());
  });
  teardown(() => slot.fixture.remove());

  const needsIndex = async (): Promise<void> => {
    await isAsGit(slot);
  };

  test('what is staged', async () => {
    write(slot, 'src/a.txt', 'staged\n');
    inSlot(slot, 'add', 'src/a.txt');
    write(slot, 'src/a.txt', 'and changed\n');
    await needsIndex();
  });

  test('what is only announced is as it lies there', async () => {
    write(slot, 'src/new.txt', 'new\n');
    inSlot(slot, 'add', '-N', 'src/new.txt');
    await isAsGit(slot);
  });

  test('line ends that the index keeps as they are', async () => {
    write(slot, 'src/crlf.txt', 'one\r\ntwo\r\n');
    inSlot(slot, 'add', '-A');
    inSlot(slot, 'commit', '-qm', 'line ends of another system');
    write(slot, '.gitattributes', '* text=auto\n');
    inSlot(slot, 'add', '-A');
    inSlot(slot, 'commit', '-qm', 'rules');
    write(slot, 'src/crlf.txt', 'one\r\ntwo\r\nthree\r\n');
    await needsIndex();
    const tree = await taken(slot);
    assert.match(slot.fixture.git('show', `${tree}:src/crlf.txt`), /two\r\nthree$/);
  });

  test('rules for contents that only the index still has', async () => {
    write(slot, '.gitattributes', '*.txt ident\n');
    inSlot(slot, 'add', '-A');
    inSlot(slot, 'commit', '-qm', 'rules');
    rmSync(join(slot.path, '.gitattributes'));
    write(slot, 'src/a.txt', '$Id: 1$\n');
    await needsIndex();
  });

  test('rules for contents that are there count', async () => {
    write(slot, '.gitattributes', '*.txt ident\n');
    inSlot(slot, 'add', '-A');
    inSlot(slot, 'commit', '-qm', 'rules');
    write(slot, 'src/a.txt', '$Id: 1$\n');
    await isAsGit(slot);
  });

  test('a folder that has become a link while something is staged', async () => {
    write(slot, 'README.md', 'staged\n');
    inSlot(slot, 'add', 'README.md');
    removeFolder(join(slot.path, 'src'));
    symlinkSync('elsewhere', join(slot.path, 'src'));
    await needsIndex();
  });

  test('another commit of a submodule', async () => {
    const inner = join(slot.fixture.home, 'inner');
    slot.fixture.gitIn(slot.fixture.home, 'clone', '-q', slot.fixture.root, inner);
    const add = ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add'];
    inSlot(slot, ...add, inner, 'sub');
    inSlot(slot, 'commit', '-qm', 'a submodule');
    const here = ['-c', 'user.name=A', '-c', 'user.email=a@example.org'];
    slot.fixture.gitIn(
      join(slot.path, 'sub'),
      ...here,
      'commit',
      '-q',
      '--allow-empty',
      '-m',
      'more',
    );
    await needsIndex();
  });

  for (const config of [
    ['core.fileMode', 'false'],
    ['core.symlinks', 'no'],
    ['core.ignoreCase', 'true'],
  ] as const)
    test(`where ${config.join(' is ')}`, async () => {
      slot.fixture.remove();
      slot = await slotOf(makeFixture(), config);
      write(slot, 'src/a.txt', 'changed\n');
      await needsIndex();
    });
});

const rounds = sized(12, 60);
const names = ['a', 'b', 'b.c', 'b-', 'ü', 'a b', 'd/a', 'd/b/c', 'd.e/f', 'd/b/ü', 'g/h/i/j'];

suite('git: trees of random changes', () => {
  for (let at = 0; at < sized(3, 12); at += 1) {
    test(`of seed ${testSeed + at}`, async () => {
      const slot = await slotOf(makeFixture());
      const chance = new SeededChance(testSeed + at);
      try {
        for (let round = 0; round < rounds; round += 1) {
          for (let change = chance.below(6); change >= 0; change -= 1) changeOne(slot, chance);
          if (chance.below(4) === 0) commitAll(slot);
          if (chance.below(6) === 0) slot.fixture.git('repack', '-adq');
          write(slot, 'always', `${round}\n`);
          await isAsGit(slot);
        }
        assert.equal(slot.fixture.git('fsck', '--strict', '--no-dangling'), '');
      } finally {
        slot.fixture.remove();
      }
    });
  }
});

function commitAll(slot: Slot): void {
  inSlot(slot, 'add', '-A');
  inSlot(slot, 'commit', '-q', '--allow-empty', '-m', 'some');
}

/** A file, a link or a folder in place of whatever is there, or nothing. */
function changeOne(slot: Slot, chance: SeededChance): void {
  const name = names[chance.below(names.length)] ?? 'a';
  const path = join(slot.path, name);
  clearWay(slot.path, name);
  const kind = chance.below(6);
  if (kind === 0) return;
  mkdirSync(dirname(path), { recursive: true });
  if (kind === 1) symlinkSync(`../${chance.below(5)}`, path);
  else if (kind === 2) write(slot, `${name}/${chance.below(3)}`, 'below\n');
  else write(slot, name, `${chance.below(1000)}\n`);
  if (kind === 3) chmodSync(path, 0o755);
}

function clearWay(root: string, name: string): void {
  const parts = name.split('/');
  for (let length = 1; length < parts.length; length += 1) {
    const above = join(root, ...parts.slice(0, length));
    const facts = lstatSync(above, { throwIfNoEntry: false });
    if (facts !== undefined && !facts.isDirectory()) rmSync(above);
  }
  removeFolder(join(root, name));
  assert.ok(readdirSync(root).length > 0);
}
