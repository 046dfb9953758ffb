// A person prunes the repository between the writing of objects and the moving of the ref that is to name them.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { type ChildProcess, spawn } from 'node:child_process';
import type { GitRepository } from '../../server/git/port.ts';
import {
  kindOf,
  leftoversOf,
  letGitMoveRefs,
  makeFixture,
  startTask,
  type Task,
  valueOf,
  type Fixture,
} from './fixture.ts';

suite('git: pruned meanwhile', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let binary: string;
  let task: Task;
  const children: ChildProcess[] = [];

  /** A git that prunes everything unreachable just before (or `after`) the next command of ours of this name. */
  const prune = (command: string, times = 1, when: 'before' | 'after' = 'before'): void => {
    for (let time = 1; time <= times; time += 1) {
      writeFileSync(join(fixture.home, `prune-${time}`), `${when} ${command}`);
    }
  };
  const left = (): number =>
    [1, 2, 3, 4, 5, 6].filter((time) => existsSync(join(fixture.home, `prune-${time}`))).length;

  setup(async () => {
    fixture = makeFixture();
    const { home, root } = fixture;
    binary = join(home, 'git-with-a-person');
    const script = `#!/bin/sh
pruning() { for mark in "${home}"/prune-*; do
  [ -e "$mark" ] || return 1
  read -r when command < "$mark"
  [ "$when" = "$1" ] || return 1
  shift
  case " $* " in *" $command "*) rm -f "$mark"; return 0;; esac
  return 1
done; }
prune() { env -i PATH="$PATH" HOME="$HOME" GIT_CONFIG_NOSYSTEM=1 git -C "${root}" prune --expire=now; }
if pruning before "$@"; then prune; exec git "$@"; fi
if pruning after "$@"; then git "$@"; code=$?; prune; exit $code; fi
exec git "$@"
`;
    writeFileSync(binary, script);
    chmodSync(binary, 0o755);
    repository = await fixture.open({ binary });
    task = await startTask(fixture, repository, 's0', 'task-1');
  });
  teardown(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    fixture.remove();
  });

  const reopened = async (): Promise<void> => {
    letGitMoveRefs(fixture);
    repository = await fixture.open({ binary });
  };
  const write = (path: string, content: string): void =>
    fixture.write(join(task.path, path), content);
  const request = { label: 'task-1/1', author: 'agent', reason: 'failed' } as const;
  const stage = (): void => {
    write('README.md', 'staged\n');
    fixture.gitIn(task.path, 'add', 'README.md');
  };
  const taken = async (): Promise<string> => {
    const asked = { ...request, path: task.path, base: task.base };
    return valueOf(await repository.snapshot(asked))?.commit ?? assert.fail('no snapshot');
  };
  /** Every ref, index and HEAD leads to objects that exist, and the person's gc works. */
  const isWhole = (): void => {
    fixture.git('rev-list', '--objects', '--quiet', '--all', '--indexed-objects');
    fixture.git('gc', '-q', '--prune=now');
  };

  for (const command of ['write-tree', 'commit-tree', 'update-ref']) {
    test(`a snapshot holds everything when a prune comes before ${command}`, async () => {
      // With such a setting only git can make its commit.
      if (command === 'commit-tree') fixture.git('config', 'i18n.commitEncoding', 'utf-8');
      if (command === 'update-ref') await reopened();
      // Without it, no tree is written by git.
      if (command === 'write-tree') stage();
      write('new.txt', 'mine\n');
      write('sub/README.md', 'also mine\n');
      write('README.md', 'changed\n');
      prune(command);
      const commit = await taken();
      assert.equal(left(), 0);
      assert.equal(fixture.git('show', `${commit}:new.txt`), 'mine');
      assert.equal(fixture.git('show', `${commit}:sub/README.md`), 'also mine');
      assert.equal(fixture.git('show', `${commit}:README.md`), 'changed');
      assert.equal(fixture.git('show', `${commit}:src/a.txt`), 'a');
      isWhole();
    });
  }

  test('so it does when the prune comes between the trees and the commit', async () => {
    stage();
    write('new.txt', 'mine\n');
    prune('write-tree', 1, 'after');
    const commit = await taken();
    assert.equal(left(), 0);
    assert.equal(fixture.git('show', `${commit}:new.txt`), 'mine');
    isWhole();
  });

  test('so it does when only files that the commit does not name itself were pruned', async () => {
    write('new.txt', 'mine\n');
    prune('update-index', 1, 'after');
    const commit = await taken();
    assert.equal(left(), 0);
    assert.equal(fixture.git('show', `${commit}:new.txt`), 'mine');
    isWhole();
  });

  test('what was staged is kept as well, and prunes that go on are outlasted', async () => {
    write('README.md', 'staged\n');
    fixture.gitIn(task.path, 'add', '-A');
    write('README.md', 'changed\n');
    write('new.txt', 'mine\n');
    await reopened();
    prune('update-ref', 3);
    const commit = await taken();
    assert.equal(left(), 0);
    assert.equal(fixture.git('show', `${commit}:README.md`), 'changed');
    assert.equal(fixture.git('show', `${commit}:new.txt`), 'mine');
    const index = /^Drover-Index: (\w+)$/mu.exec(fixture.git('show', '-s', '--format=%B', commit));
    assert.equal(fixture.git('show', `${index?.[1]}:README.md`), 'staged');
    isWhole();
  });

  test('a slot is emptied only when what was in it is kept whole', async () => {
    write('new.txt', 'mine\n');
    prune('update-index', 1, 'after');
    await startTask(fixture, repository, 's0', 'task-2');
    assert.equal(left(), 0);
    assert.equal(existsSync(join(task.path, 'new.txt')), false);
    const refs = fixture.git('for-each-ref', '--format=%(refname)', 'refs/drover/work').split('\n');
    assert.deepEqual(
      refs.map((ref) => fixture.git('show', `${ref}:new.txt`)),
      ['mine'],
    );
    isWhole();
  });

  test('a chain whose end was pruned starts over', async () => {
    write('one.txt', 'one\n');
    const first = await taken();
    rmSync(join(fixture.root, '.git', 'objects', first.slice(0, 2), first.slice(2)));
    write('two.txt', 'two\n');
    const second = await taken();
    assert.equal(fixture.git('show', `${second}:one.txt`), 'one');
    assert.equal(fixture.git('show', `${second}:two.txt`), 'two');
    isWhole();
  });

  for (const how of ['commits it', 'takes a snapshot', 'gives the slot to another task'] as const) {
    test(`what an agent was committing as a person pruned is there when Drover ${how}`, async () => {
      write('one.txt', 'one\n');
      fixture.gitIn(task.path, 'add', '-A');
      fixture.gitIn(task.path, 'commit', '-qm', 'one');
      const kept = fixture.gitIn(task.path, 'rev-parse', 'HEAD');
      write('two.txt', 'two\n');
      write('README.md', 'changed\n');
      fixture.gitIn(task.path, 'add', '-A');
      fixture.gitIn(task.path, 'commit', '-qm', 'two');
      const lost = ['', '^{tree}', ':two.txt', ':README.md'].map((part) =>
        fixture.gitIn(task.path, 'rev-parse', `HEAD${part}`),
      );
      for (const sha of lost)
        rmSync(join(fixture.root, '.git', 'objects', sha.slice(0, 2), sha.slice(2)));
      let found: string;
      if (how === 'commits it')
        found = valueOf(await repository.commitLeftovers(leftoversOf(task))).commit;
      else if (how === 'takes a snapshot') found = await taken();
      else {
        await startTask(fixture, repository, 's0', 'task-2');
        found = fixture.git('for-each-ref', '--format=%(objectname)', 'refs/drover/work');
      }
      assert.equal(fixture.git('show', `${found}:one.txt`), 'one');
      assert.equal(fixture.git('show', `${found}:two.txt`), 'two');
      assert.equal(fixture.git('show', `${found}:README.md`), 'changed');
      fixture.git('merge-base', '--is-ancestor', kept, found);
      isWhole();
    });
  }

  test('a landing ref does not move to a merge that was pruned; merged again, it does', async () => {
    write('one.txt', 'one\n');
    const done = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    fixture.write(join(fixture.root, 'two.txt'), 'two\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'two');
    const tip = fixture.git('rev-parse', 'main');
    const asked = { tip, commit: done.commit, subject: 'drover: land', trailers: [] };
    const merge = async (): Promise<string> => {
      const merged = valueOf(await repository.merge(asked));
      return merged.kind === 'merged' ? merged.commit : assert.fail(merged.kind);
    };
    const ref = 'refs/drover/land/main';
    await reopened();
    const gone = await merge();
    prune('update-ref');
    assert.equal(kindOf(await repository.updateRef(ref, gone, null, 'land')), 'unknown_ref');
    // Only the tree of this one is missing, which git does not check.
    const half = await merge();
    const tree = fixture.git('rev-parse', `${half}^{tree}`);
    rmSync(join(fixture.root, '.git', 'objects', tree.slice(0, 2), tree.slice(2)));
    assert.equal(kindOf(await repository.updateRef(ref, half, null, 'land')), 'pruned');
    assert.equal(await repository.readRef(ref), null);
    const merged = await merge();
    valueOf(await repository.updateRef(ref, merged, null, 'land'));
    assert.equal(fixture.git('show', `${merged}:one.txt`), 'one');
    assert.equal(fixture.git('show', `${merged}:two.txt`), 'two');
    isWhole();
  });

  /** A person's gc that has already read the refs. */
  const beginGc = (): void => {
    const child = spawn('sleep', ['60'], { stdio: 'ignore' });
    children.push(child);
    writeFileSync(join(fixture.root, '.git', 'gc.pid'), `${child.pid} ${hostname()}`);
  };

  test('a commit that a running gc removes is made again', async () => {
    write('new.txt', 'mine\n');
    write('staged.txt', 'staged\n');
    fixture.gitIn(task.path, 'add', 'staged.txt');
    rmSync(join(task.path, 'src', 'b.txt'));
    beginGc();
    const committed = repository.commitLeftovers(leftoversOf(task));
    const tip = (): string => fixture.git('rev-parse', task.branch);
    while (tip() === task.base) await new Promise((resolve) => setImmediate(resolve));
    const made = tip();
    const names = ['', '^{tree}', ':new.txt', ':staged.txt'].map((part) => `${made}${part}`);
    for (const sha of fixture.git('rev-parse', ...names).split('\n')) {
      rmSync(join(fixture.root, '.git', 'objects', sha.slice(0, 2), sha.slice(2)));
    }
    rmSync(join(fixture.root, '.git', 'objects', 'tmp_drover_watch'));
    rmSync(join(fixture.root, '.git', 'gc.pid'));
    const { commit } = valueOf(await committed);
    assert.equal(tip(), commit);
    assert.equal(
      fixture.git('diff', '--name-status', task.base, commit),
      'A\tnew.txt\nD\tsrc/b.txt\nA\tstaged.txt',
    );
    assert.equal(fixture.gitIn(task.path, 'status', '--porcelain'), '');
    isWhole();
  });

  test('a gc that runs while a ref moves is waited for', async () => {
    write('new.txt', 'mine\n');
    beginGc();
    const objects = join(fixture.root, '.git', 'objects');
    const snapshot = taken();
    const ref = join(fixture.root, '.git', 'refs', 'drover', 'work', 'task-1', '1');
    while (!existsSync(ref)) await new Promise((resolve) => setImmediate(resolve));
    const blob = fixture.git('rev-parse', 'refs/drover/work/task-1/1:new.txt');
    rmSync(join(objects, blob.slice(0, 2), blob.slice(2)));
    rmSync(join(objects, 'tmp_drover_watch'));
    rmSync(join(fixture.root, '.git', 'gc.pid'));
    const commit = await snapshot;
    assert.equal(fixture.git('show', `${commit}:new.txt`), 'mine');
    isWhole();
  });

  test('costs no process where no prune was seen', async () => {
    write('one.txt', 'one\n');
    await taken();
    write('two.txt', 'two\n');
    const before = repository.processCount;
    await taken();
    assert.equal(repository.processCount - before, 2);
  });
});
