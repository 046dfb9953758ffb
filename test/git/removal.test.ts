// The only code that deletes worktrees: everything that an agent left is reachable from a ref
// afterwards, or the worktree still exists.

import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { BinaryGitAdapter } from '../../server/git/repository/adapter.ts';
import type { GitRepository, RemoveOutcome } from '../../server/git/port.ts';
import { removeFolder } from '../remove-folder.ts';
import { kindOf, makeFixture, startTask, valueOf, type Fixture, type Task } from './fixture.ts';

suite('git: removal', () => {
  let fixture: Fixture;
  let adapter: BinaryGitAdapter;
  let repository: GitRepository;
  let task: Task;
  setup(async () => {
    fixture = makeFixture();
    fixture.write(join(fixture.root, '.gitignore'), '.env\nscratch/\nnode_modules/\nhuge/\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'ignore');
    adapter = fixture.adapter();
    repository = valueOf(await adapter.open(fixture.root));
    task = await startTask(fixture, repository, 's0', 'task-1');
  });
  teardown(() => fixture.remove());

  const inSlot = (...args: readonly string[]): string => fixture.gitIn(task.path, ...args);
  const write = (path: string, content: string | Uint8Array): void =>
    fixture.write(join(task.path, path), content);
  const remove = async (force = false): Promise<RemoveOutcome> =>
    valueOf(await repository.removeWorktree({ path: task.path, label: 'task-1/1', force }));
  const commitAll = (message: string): string => {
    inSlot('add', '-A');
    inSlot('commit', '-qm', message);
    return inSlot('rev-parse', 'HEAD');
  };
  const assertGone = async (): Promise<void> => {
    assert.equal(existsSync(task.path), false);
    assert.equal(existsSync(join(fixture.root, '.git', 'worktrees', 's0')), false);
    await adapter.settled();
    assert.deepEqual(readdirSync(join(fixture.slots, '.drover-trash')), []);
    assert.equal(fixture.git('worktree', 'list', '--porcelain').includes('s0'), false);
  };
  const holds = (ref: string | null, path: string): string => fixture.git('show', `${ref}:${path}`);

  test('a clean worktree is removed, and its branch stays', async () => {
    write('one.txt', '1\n');
    const tip = commitAll('one');
    assert.deepEqual(await remove(), { kind: 'removed', keptRef: null });
    await assertGone();
    assert.equal(fixture.git('rev-parse', task.branch), tip);
    assert.deepEqual(await remove(), { kind: 'removed', keptRef: null });
  });

  /**
   * Each leaves something behind and returns a check of the rescue ref (null if some branch
   * contains it).
   */
  const leavings: Readonly<Record<string, () => (ref: string | null) => void>> = {
    uncommitted: () => {
      write('README.md', 'mine\n');
      return (ref) => assert.equal(holds(ref, 'README.md'), 'mine');
    },
    staged: () => {
      write('staged.txt', 'mine\n');
      inSlot('add', '-A');
      return (ref) => assert.equal(holds(ref, 'staged.txt'), 'mine');
    },
    untracked: () => {
      write('a/b c/ü.txt', 'mine\n');
      return (ref) => assert.equal(holds(ref, 'a/b c/ü.txt'), 'mine');
    },
    ignored: () => {
      write('.env', 'mine\n');
      write('scratch/deep/notes.md', 'mine\n');
      write('node_modules/x/index.js', 'not mine\n');
      return (ref) => {
        assert.equal(holds(ref, '.env'), 'mine');
        assert.equal(holds(ref, 'scratch/deep/notes.md'), 'mine');
        assert.throws(() => holds(ref, 'node_modules/x/index.js'));
      };
    },
    'unreachable commits on a detached HEAD': () => {
      inSlot('switch', '-q', '--detach');
      write('one.txt', '1\n');
      const tip = commitAll('detached');
      return (ref) => assert.equal(fixture.git('rev-parse', `${ref}^`), tip);
    },
    'a detached HEAD that a branch holds': () => {
      inSlot('switch', '-q', '--detach');
      return (ref) => assert.equal(ref, null);
    },
    'a branch of its own': () => {
      inSlot('switch', '-q', '-c', 'own');
      write('one.txt', '1\n');
      const tip = commitAll('own');
      return (ref) => {
        assert.equal(ref, null);
        assert.equal(fixture.git('rev-parse', 'own'), tip);
      };
    },
    'a branch without commits': () => {
      inSlot('switch', '-q', '--orphan', 'empty');
      write('one.txt', 'mine\n');
      return (ref) => assert.equal(holds(ref, 'one.txt'), 'mine');
    },
    'an unfinished rebase with an autostash': () => {
      write('README.md', 'task\n');
      commitAll('task');
      fixture.write(join(fixture.root, 'README.md'), 'main\n');
      fixture.git('commit', '-qam', 'main');
      write('src/a.txt', 'stashed\n');
      assert.throws(() => inSlot('rebase', '--autostash', 'main'));
      return () => {
        const refs = fixture
          .git('for-each-ref', '--format=%(refname)', 'refs/drover/work')
          .split('\n');
        const stashes = refs.flatMap((ref) =>
          fixture.git('rev-list', '--parents', '-1', ref).split(' ').slice(1),
        );
        assert.ok(stashes.some((sha) => holds(sha, 'src/a.txt') === 'stashed'));
      };
    },
    'a repository inside with commits': () => {
      inSlot('init', '-q', '-b', 'inner-branch', 'inner');
      write('inner/file.txt', 'mine\n');
      fixture.gitIn(join(task.path, 'inner'), 'add', '-A');
      fixture.gitIn(
        join(task.path, 'inner'),
        '-c',
        'user.name=x',
        '-c',
        'user.email=x',
        'commit',
        '-qm',
        'inner',
      );
      const tip = fixture.gitIn(join(task.path, 'inner'), 'rev-parse', 'HEAD');
      write('inner/more.txt', 'mine\n');
      return (ref) => {
        assert.equal(holds(ref, 'inner/more.txt'), 'mine');
        assert.match(fixture.git('for-each-ref', '--contains', tip, '--format=%(refname)'), /work/);
      };
    },
    'a worktree inside': () => {
      inSlot('worktree', 'add', '-q', '--detach', 'inner');
      fixture.write(join(task.path, 'inner', 'x.txt'), 'mine\n');
      fixture.gitIn(join(task.path, 'inner'), 'add', '-A');
      fixture.gitIn(join(task.path, 'inner'), 'commit', '-qm', 'inner');
      const tip = fixture.gitIn(join(task.path, 'inner'), 'rev-parse', 'HEAD');
      return () =>
        assert.match(fixture.git('for-each-ref', '--contains', tip, '--format=%(refname)'), /work/);
    },
    'a deleted .git file': () => {
      write('one.txt', 'mine\n');
      rmSync(join(task.path, '.git'));
      return (ref) => assert.equal(holds(ref, 'one.txt'), 'mine');
    },
    'a folder that is gone': () => {
      inSlot('switch', '-q', '--detach');
      write('one.txt', '1\n');
      const tip = commitAll('detached');
      removeFolder(task.path);
      return (ref) => assert.equal(fixture.git('rev-parse', `${ref}^`), tip);
    },
  };
  for (const [what, leave] of Object.entries(leavings)) {
    test(`a removal keeps ${what}`, async () => {
      const check = leave();
      const outcome = await remove();
      assert.equal(outcome.kind, 'removed', JSON.stringify(outcome));
      check(outcome.kind === 'removed' ? outcome.keptRef : null);
      await adapter.settled();
      assert.equal(existsSync(task.path), false);
      assert.equal(fixture.git('status', '--porcelain'), '');
      fixture.git('fsck', '--connectivity-only', '--no-dangling');
    });
  }

  const obstacles: Readonly<Record<string, readonly [() => void, RegExp, boolean]>> = {
    'a lock of the user': [
      () => fixture.git('worktree', 'lock', '--reason', 'mine', task.path),
      /locked \(mine\)/,
      false,
    ],
    'git at work': [
      () => {
        const lock = join(fixture.root, '.git', 'worktrees', 's0', 'index.lock');
        writeFileSync(lock, '');
        // However slow the test is, the lock is too recent to be stale.
        const inAMinute = new Date(Date.now() + 60_000);
        utimesSync(lock, inAMinute, inAMinute);
      },
      /index\.lock/,
      false,
    ],
    'more ignored files than fit': [
      () => {
        for (let index = 0; index < 65; index += 1)
          write(`huge/${index}.bin`, Buffer.alloc(1024 * 1024));
      },
      /more than 64 MB/,
      true,
    ],
    'a submodule': [
      () => mkdirSync(join(fixture.root, '.git', 'worktrees', 's0', 'modules')),
      /submodules/,
      true,
    ],
  };
  for (const [what, [hinder, reason, forcible]] of Object.entries(obstacles)) {
    test(`a worktree stays for ${what}${forcible ? ', unless forced' : ''}`, async () => {
      hinder();
      const outcome = await remove();
      assert.match(outcome.kind === 'kept' ? outcome.reason : 'removed', reason);
      assert.equal(existsSync(join(task.path, 'README.md')), true);
      assert.equal((await remove(true)).kind, forcible ? 'removed' : 'kept');
    });
  }

  test('a locked slot whose folder is missing is left for another slot', async () => {
    fixture.git('worktree', 'lock', task.path);
    removeFolder(task.path);
    const request = { path: task.path, branch: 'drover/task-2/1', sha: task.base } as const;
    const how = { keepBranch: false, dropIgnored: false, sparse: null, use: 'task' } as const;
    assert.equal(kindOf(await repository.prepareSlot({ ...request, ...how })), 'foreign');
    fixture.git('worktree', 'unlock', task.path);
    valueOf(await repository.prepareSlot({ ...request, ...how }));
  });

  test("the user's checkout and folders that are not worktrees are never removed", async () => {
    const users = valueOf(
      await repository.removeWorktree({ path: fixture.root, label: 'x', force: true }),
    );
    assert.equal(users.kind, 'kept');
    const other = join(fixture.slots, 'other');
    fixture.write(join(other, 'mine.txt'), 'x');
    assert.equal(
      valueOf(await repository.removeWorktree({ path: other, label: 'x', force: true })).kind,
      'kept',
    );
    assert.equal(existsSync(join(other, 'mine.txt')), true);
  });

  test("read-only folders and a dead process's leftovers in the trash are deleted", async () => {
    write('node_modules/mod/x.txt', 'x\n');
    chmodSync(join(task.path, 'node_modules', 'mod'), 0o500);
    fixture.write(join(fixture.slots, '.drover-trash', 'old-0123abcd', 'x'), 'x');
    adapter = fixture.adapter();
    repository = valueOf(await adapter.open(fixture.root));
    assert.equal((await remove()).kind, 'removed');
    await startTask(fixture, repository, 's1', 'task-2');
    await assertGone();
  });
});
