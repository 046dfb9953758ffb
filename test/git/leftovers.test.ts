// An agent's leftovers end up on its attempt's branch, wherever its HEAD is, but secrets do not.

import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  readdirSync,
} from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import { removeFolder } from '../remove-folder.ts';
import {
  kindOf,
  leftoversOf,
  makeFixture,
  startTask,
  valueOf,
  type Fixture,
  type Task,
} from './fixture.ts';

suite('git: leftovers', () => {
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
  const write = (path: string, content: string | Uint8Array): void =>
    fixture.write(join(task.path, path), content);
  const commit = () => repository.commitLeftovers(leftoversOf(task));
  const filesOf = (revision: string): string[] =>
    fixture.git('ls-tree', '-r', '--name-only', revision).split('\n');
  const rescued = (): string[] =>
    fixture
      .git('for-each-ref', '--format=%(refname)', 'refs/drover/work')
      .split('\n')
      .filter(Boolean);

  test("a killed git's lock on the branch of the attempt is removed", async () => {
    write('new.txt', 'new\n');
    const lock = join(fixture.root, '.git', 'refs', 'heads', `${task.branch}.lock`);
    fixture.write(lock, '');
    const done = valueOf(await commit());
    assert.equal(fixture.git('rev-parse', task.branch), done.commit);
    assert.ok(!existsSync(lock));
  });

  test('links in place of ignored folders are not committed', async () => {
    write('.gitignore', 'node_modules/\n');
    write('app/.gitignore', 'build/\n!kept/\n');
    write('real/x.txt', 'x\n');
    for (const path of ['node_modules', 'app/node_modules', 'app/build', 'app/kept', 'other']) {
      symlinkSync(path.startsWith('app/') ? '../real' : 'real', join(task.path, path));
    }
    const done = valueOf(await commit());
    assert.deepEqual(fixture.git('diff', '--name-only', task.base, done.commit).split('\n'), [
      '.gitignore',
      'app/.gitignore',
      'app/kept',
      'other',
      'real/x.txt',
    ]);
    assert.deepEqual(done.held, []);
    const next = await startTask(fixture, repository, 's0', 'task-2');
    assert.equal(existsSync(join(next.path, 'node_modules')), false);
  });

  test('without leftovers, nothing is changed', async () => {
    const done = valueOf(await commit());
    assert.deepEqual(
      { ...done, tree: null },
      {
        commit: task.base,
        tree: null,
        changed: false,
        held: [],
        heldFor: {},
        heldCauses: {},
        unportable: {},
        committedSecrets: [],
        protected: [],
      },
    );
  });

  test("changes, additions, deletions and staged work are committed with Drover's message", async () => {
    write('README.md', 'changed\n');
    write('new dir/ü x.txt', 'new\n');
    write('staged.txt', 'staged\n');
    inSlot('add', 'staged.txt');
    rmSync(join(task.path, 'src', 'a.txt'));
    const done = valueOf(await commit());
    assert.equal(done.commit, fixture.git('rev-parse', task.branch));
    assert.equal(done.tree, fixture.git('rev-parse', `${task.branch}^{tree}`));
    assert.deepEqual(filesOf(done.commit), [
      'README.md',
      'new dir/ü x.txt',
      'src/b.txt',
      'staged.txt',
    ]);
    assert.equal(inSlot('status', '--porcelain'), '');
    assert.equal(
      fixture.git('show', '-s', '--format=%an|%cn|%B', done.commit),
      'A Person|A Person|drover: drover/task-1/1\n\nDrover-Task: t\nDrover-Attempt: 1',
    );
  });

  test('a file that becomes a folder and a folder that becomes a file are committed', async () => {
    rmSync(join(task.path, 'README.md'));
    write('README.md/inner.txt', 'x\n');
    removeFolder(join(task.path, 'src'));
    write('src', 'y\n');
    assert.deepEqual(filesOf(valueOf(await commit()).commit), ['README.md/inner.txt', 'src']);
    assert.equal(inSlot('status', '--porcelain'), '');
  });

  test('names that are not text and names that look like options or patterns are accepted', async () => {
    writeFileSync(
      Buffer.concat([Buffer.from(`${task.path}/bad-`), Buffer.from([0xff, 0xfe])]),
      'x',
    );
    for (const name of ['-rf', ':(top)x', '*', '"q"', 'a\nb']) write(name, 'x\n');
    valueOf(await commit());
    assert.equal(inSlot('status', '--porcelain'), '');
  });

  const heldCases: readonly (readonly [string, number, boolean])[] = [
    ['.env', 1, true],
    ['sub/.env.local', 1, true],
    ['deploy.pem', 1, true],
    ['server.key', 1, true],
    ['cert.p12', 1, true],
    ['id_rsa', 1, true],
    ['id_ed25519.pub', 1, true],
    ['credentials.json', 1, true],
    ['large.bin', 2 * 1024 * 1024, true],
    ['.env.example', 1, false],
    ['credentials.sample', 1, false],
    ['monkey', 1, false],
    ['environment.ts', 1, false],
  ];
  for (const staged of [false, true]) {
    test(`secrets and large files are held, ${staged ? 'staged' : 'untracked'}`, async () => {
      for (const [path, size] of heldCases) write(path, 'x'.repeat(size));
      if (staged) inSlot('add', '-A');
      const done = valueOf(await commit());
      const held = heldCases.filter(([, , isHeld]) => isHeld).map(([path]) => path);
      assert.deepEqual(done.held, held.toSorted());
      const committed = filesOf(done.commit);
      for (const [path, , isHeld] of heldCases) {
        assert.equal(committed.includes(path), !isHeld, path);
        assert.equal(existsSync(join(task.path, path)), true, path);
      }
    });
  }

  test('a change to a tracked secret is held, but deleting it is allowed', async () => {
    fixture.write(join(fixture.root, '.env'), 'old\n');
    fixture.write(join(fixture.root, 'old.pem'), 'old\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'secrets');
    task = await startTask(fixture, repository, 's0', 'task-2');
    write('.env', 'new\n');
    rmSync(join(task.path, 'old.pem'));
    const done = valueOf(await commit());
    assert.deepEqual(done.held, ['.env']);
    assert.equal(fixture.git('show', `${done.commit}:.env`), 'old');
    assert.equal(filesOf(done.commit).includes('old.pem'), false);
  });

  test("the agent's own commits are reported", async () => {
    write('.env', 'x\n');
    write('big.bin', 'x'.repeat(2 * 1024 * 1024));
    write('fine.txt', 'x\n');
    inSlot('add', '-A');
    inSlot('commit', '-qm', 'mine');
    write('more.txt', 'x\n');
    const done = valueOf(await commit());
    assert.deepEqual(done.held, ['.env', 'big.bin']);
    assert.deepEqual(done.heldCauses, { '.env': 'name', 'big.bin': 'size' });
    assert.equal(fixture.git('rev-list', '--count', `${task.base}..${done.commit}`), '2');
  });

  test('if only held files are left, no commit is made and nothing is changed', async () => {
    write('.env', 'x\n');
    const done = valueOf(await commit());
    assert.deepEqual([done.changed, done.held, done.commit], [false, ['.env'], task.base]);
  });

  test('the work of an agent that switched to another branch is taken', async () => {
    inSlot('switch', '-q', '-c', 'agents-own');
    write('one.txt', '1\n');
    inSlot('add', '-A');
    inSlot('commit', '-qm', 'own');
    write('two.txt', '2\n');
    const done = valueOf(await commit());
    assert.equal(fixture.git('rev-parse', task.branch), done.commit);
    assert.deepEqual(
      filesOf(done.commit).filter((path) => path.endsWith('o.txt') || path === 'one.txt'),
      ['one.txt', 'two.txt'],
    );
    assert.equal(inSlot('symbolic-ref', '--short', 'HEAD'), task.branch);
    assert.equal(inSlot('status', '--porcelain'), '');
    assert.deepEqual(filesOf('agents-own').includes('two.txt'), false);
  });

  test('the work of an agent that detached HEAD is taken, and commits that only the branch had are kept', async () => {
    write('on-branch.txt', '1\n');
    inSlot('add', '-A');
    inSlot('commit', '-qm', 'on the branch');
    const dropped = inSlot('rev-parse', 'HEAD');
    inSlot('switch', '-q', '--detach', task.base);
    write('detached.txt', '2\n');
    inSlot('add', '-A');
    inSlot('commit', '-qm', 'detached');
    write('left.txt', '3\n');
    const done = valueOf(await commit());
    assert.deepEqual(filesOf(done.commit), [
      'README.md',
      'detached.txt',
      'left.txt',
      'src/a.txt',
      'src/b.txt',
    ]);
    assert.equal(fixture.git('rev-parse', task.branch), done.commit);
    assert.equal(fixture.git('rev-parse', `${rescued()[0]}^`), dropped);
  });

  test('an agent that only checks out an older commit loses nothing', async () => {
    write('one.txt', '1\n');
    inSlot('add', '-A');
    inSlot('commit', '-qm', 'one');
    const own = inSlot('rev-parse', 'HEAD');
    inSlot('switch', '-q', '--detach', task.base);
    assert.equal(valueOf(await commit()).commit, own);
    write('two.txt', '2\n');
    const done = valueOf(await commit());
    assert.deepEqual(filesOf(done.commit), [
      'README.md',
      'one.txt',
      'src/a.txt',
      'src/b.txt',
      'two.txt',
    ]);
    assert.equal(fixture.git('rev-parse', task.branch), done.commit);
  });

  test('a renamed branch and a branch without commits are handled', async () => {
    inSlot('branch', '-m', 'renamed');
    write('one.txt', '1\n');
    assert.equal(valueOf(await commit()).commit, fixture.git('rev-parse', task.branch));
    inSlot('switch', '-q', '--orphan', 'empty');
    write('two.txt', '2\n');
    const done = valueOf(await commit());
    assert.equal(fixture.git('rev-parse', task.branch), done.commit);
    assert.equal(fixture.git('rev-parse', `${done.commit}^^`), task.base);
  });

  test('a repository inside the worktree is held, not committed as a link', async () => {
    inSlot('init', '-q', 'inner');
    write('inner/file.txt', 'x\n');
    write('outer.txt', 'x\n');
    const done = valueOf(await commit());
    assert.deepEqual(done.held, ['inner/']);
    assert.deepEqual(done.heldCauses, { 'inner/': 'repository' });
    assert.equal(filesOf(done.commit).includes('outer.txt'), true);
  });

  test("a deleted .git file is restored, and no surrounding repository is mistaken for Drover's", async () => {
    fixture.gitIn(fixture.home, 'init', '-q', '.');
    rmSync(join(task.path, '.git'));
    assert.equal(valueOf(await repository.status(task.path)).head, task.base);
    write('one.txt', '1\n');
    const done = valueOf(await commit());
    assert.equal(fixture.git('rev-parse', task.branch), done.commit);
    assert.equal(filesOf(done.commit).includes('one.txt'), true);
    assert.throws(() => fixture.gitIn(fixture.home, 'rev-parse', '-q', '--verify', 'HEAD'));
  });

  test('a repository in place of the .git file is kept beside the worktree', async () => {
    rmSync(join(task.path, '.git'));
    inSlot('init', '-q', '-b', 'own', '.');
    inSlot('config', 'user.email', 'x@y');
    inSlot('config', 'user.name', 'x');
    write('one.txt', '1\n');
    inSlot('add', 'one.txt');
    inSlot('commit', '-qm', 'in a repository of its own');
    const own = inSlot('rev-parse', 'HEAD');
    const done = valueOf(await commit());
    assert.equal(filesOf(done.commit).includes('one.txt'), true);
    const beside = readdirSync(fixture.slots).find((name) => name.startsWith('s0.kept-')) ?? '';
    const repositoryThere = join(fixture.slots, beside, 'git');
    assert.equal(
      fixture.gitIn(fixture.home, '--git-dir', repositoryThere, 'rev-parse', 'own'),
      own,
    );
  });

  test('no hook runs and nothing is signed unless the settings say so', async () => {
    const hooks = join(fixture.root, '.git', 'hooks');
    mkdirSync(hooks, { recursive: true });
    for (const name of [
      'pre-commit',
      'prepare-commit-msg',
      'commit-msg',
      'post-commit',
      'post-checkout',
      'post-index-change',
      'reference-transaction',
    ]) {
      writeFileSync(join(hooks, name), `#!/bin/sh\necho ${name} >> "$HOME/hooks-ran"\n`, {
        mode: 0o755,
      });
    }
    fixture.git('config', 'commit.gpgSign', 'true');
    fixture.git('config', 'gpg.program', '/nonexistent');
    write('one.txt', '1\n');
    valueOf(await commit());
    task = await startTask(fixture, repository, 's0', 'task-2');
    assert.equal(existsSync(join(fixture.home, 'hooks-ran')), false);
    fixture.git('config', 'commit.gpgSign', 'false');
    write('two.txt', '2\n');
    valueOf(await repository.commitLeftovers({ ...leftoversOf(task), runHooks: true }));
    assert.match(readFileSync(join(fixture.home, 'hooks-ran'), 'utf8'), /^pre-commit$/m);
    writeFileSync(join(hooks, 'pre-commit'), '#!/bin/sh\necho lint says no >&2\nexit 1\n');
    chmodSync(join(hooks, 'pre-commit'), 0o755);
    write('three.txt', '3\n');
    const refused = await repository.commitLeftovers({ ...leftoversOf(task), runHooks: true });
    assert.match(refused.ok ? '' : refused.error.message, /lint says no/);
  });

  test("if the user has no identity, Drover's own identity and the given author are used", async () => {
    fixture.git('config', '--unset', 'user.name');
    fixture.git('config', '--unset', 'user.email');
    valueOf(await repository.refresh());
    write('one.txt', '1\n');
    const done = valueOf(await commit());
    const format = '--format=%an <%ae> %cn <%ce>';
    assert.equal(
      fixture.git('show', '-s', format, done.commit),
      'Drover <drover@localhost> Drover <drover@localhost>',
    );
    write('two.txt', '2\n');
    const signature = { name: 'Agent', email: 'agent@example.org' };
    const signed = valueOf(await repository.commitLeftovers({ ...leftoversOf(task), signature }));
    assert.equal(
      fixture.git('show', '-s', format, signed.commit),
      'Agent <agent@example.org> Drover <drover@localhost>',
    );
    assert.throws(() => fixture.git('config', 'user.name'));
  });

  test('titles cannot forge trailers, and comments in them survive', async () => {
    write('one.txt', '1\n');
    const done = valueOf(
      await repository.commitLeftovers({
        ...leftoversOf(task),
        subject: '# a\n\nDrover-Task: forged\u2028x',
      }),
    );
    assert.equal(
      fixture.git('show', '-s', '--format=%s', done.commit),
      '# a Drover-Task: forged x',
    );
    assert.equal(
      fixture
        .git('show', '-s', '--format=%(trailers:key=Drover-Task,valueonly)', done.commit)
        .trim(),
      't',
    );
  });

  test("the user's checkout is refused", async () => {
    fixture.write(join(fixture.root, 'mine.txt'), 'x\n');
    const refused = await repository.commitLeftovers({ ...leftoversOf(task), path: fixture.root });
    assert.equal(kindOf(refused), 'failed');
    assert.equal(fixture.git('status', '--porcelain'), '?? mine.txt');
  });
});
