// A person's prune has removed objects that an agent's last commit or Drover's last snapshot
// references.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import {
  kindOf,
  leftoversOf,
  makeFixture,
  startTask,
  type Task,
  valueOf,
  type Fixture,
} from './fixture.ts';

suite('git: objects that another program pruned', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let task: Task;

  setup(async () => {
    fixture = makeFixture();
    repository = await fixture.open();
    task = await startTask(fixture, repository, 's0', 'task-1');
  });
  teardown(() => {
    fixture.remove();
  });

  const write = (path: string, content: string): void =>
    fixture.write(join(task.path, path), content);
  const request = { label: 'task-1/1', author: 'agent', reason: 'failed' } as const;
  const taken = async (): Promise<string> => {
    const asked = { ...request, path: task.path, base: task.base };
    return valueOf(await repository.snapshot(asked))?.commit ?? assert.fail('no snapshot');
  };
  /** Every ref, index and HEAD leads to existing objects, and the person's gc works. */
  const isWhole = (): void => {
    fixture.git('rev-list', '--objects', '--quiet', '--all', '--indexed-objects');
    fixture.git('gc', '-q', '--prune=now');
  };

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

  test('work whose commit a person pruned is kept when another task gets the slot', async () => {
    write('one.txt', 'one\n');
    fixture.gitIn(task.path, 'add', '-A');
    fixture.gitIn(task.path, 'commit', '-qm', 'one');
    const commit = fixture.gitIn(task.path, 'rev-parse', 'HEAD');
    rmSync(join(fixture.root, '.git', 'objects', commit.slice(0, 2), commit.slice(2)));
    await startTask(fixture, repository, 's0', 'task-2');
    const found = fixture.git('for-each-ref', '--format=%(objectname)', 'refs/drover/work');
    assert.equal(fixture.git('show', `${found}:one.txt`), 'one');
  });

  test('a landing ref does not move to a pruned merge, but does after merging again', async () => {
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
    const gone = await merge();
    fixture.git('prune', '--expire=now');
    assert.equal(kindOf(await repository.updateRef(ref, gone, null, 'land')), 'unknown_ref');
    assert.equal(await repository.readRef(ref), null);
    const merged = await merge();
    valueOf(await repository.updateRef(ref, merged, null, 'land'));
    assert.equal(fixture.git('show', `${merged}:one.txt`), 'one');
    assert.equal(fixture.git('show', `${merged}:two.txt`), 'two');
    isWhole();
  });

  test('a merge survives a gc while it is in its gate folder', async () => {
    write('one.txt', 'one\n');
    const { commit } = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    fixture.git('commit', '-q', '--allow-empty', '-m', 'two');
    const asked = { tip: fixture.git('rev-parse', 'main'), commit, subject: 'land', trailers: [] };
    const merged = valueOf(await repository.merge(asked));
    assert.ok(merged.kind === 'merged');
    const gate = { branch: null, keepBranch: false, dropIgnored: true, sparse: null } as const;
    const place = { path: fixture.slot('gate-1'), sha: merged.commit, use: 'gate' } as const;
    valueOf(await repository.prepareSlot({ ...gate, ...place }));
    isWhole();
    valueOf(await repository.updateRef('refs/drover/land/main', merged.commit, null, 'land'));
    isWhole();
  });
});
