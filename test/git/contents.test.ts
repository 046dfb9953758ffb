// The data that reviews read from git: changed files with renames, files at a commit, and the
// commit that reverts one.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseNameStatus } from '../../server/git/ask/contents.ts';
import type { GitRepository } from '../../server/git/port.ts';
import { type Fixture, makeFixture, valueOf } from './fixture.ts';

suite('git: contents of commits', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  setup(async () => {
    fixture = makeFixture();
    repository = await fixture.open();
  });
  teardown(() => fixture.remove());

  function commit(subject: string): string {
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', subject);
    return fixture.git('rev-parse', 'HEAD');
  }

  const write = (path: string, content: string | Uint8Array): void =>
    fixture.write(join(fixture.root, path), content);

  test('changed files are listed, each with its kind of change', async () => {
    write('kept.txt', 'kept\n');
    write('old name.txt', 'a text that is long enough to be found again\n'.repeat(5));
    write('gone.txt', 'gone\n');
    const from = commit('before');
    write('kept.txt', 'changed\n');
    write('folder/new\nline ü.txt', 'new\n');
    rmSync(join(fixture.root, 'gone.txt'));
    fixture.git('mv', 'old name.txt', 'folder/new name.txt');
    const to = commit('after');
    assert.deepEqual(valueOf(await repository.changedFiles(from, to)), [
      { status: 'added', path: 'folder/new\nline ü.txt', oldPath: null },
      { status: 'renamed', path: 'folder/new name.txt', oldPath: 'old name.txt' },
      { status: 'removed', path: 'gone.txt', oldPath: null },
      { status: 'modified', path: 'kept.txt', oldPath: null },
    ]);
    assert.deepEqual(valueOf(await repository.changedFiles(to, to)), []);
    assert.equal((await repository.changedFiles('main', to)).ok, false);
  });

  test("git's answer is read to its end", () => {
    const output = Buffer.from('C75\0a\0b\0T\0link\0X\0odd\0M\0c\0');
    assert.deepEqual(parseNameStatus(output), [
      { status: 'copied', path: 'b', oldPath: 'a' },
      { status: 'type_changed', path: 'link', oldPath: null },
      { status: 'modified', path: 'c', oldPath: null },
    ]);
  });

  test('a file is read at a commit, and entries that are not files are handled', async () => {
    write('a [b] *.txt', 'one\n');
    write('folder/x.bin', new Uint8Array([0, 1, 2]));
    const first = commit('first of two');
    write('a [b] *.txt', 'two\n');
    const second = commit('second');
    const read = async (sha: string, path: string, max = 100): Promise<unknown> => {
      const file = valueOf(await repository.fileAt(sha, path, max));
      return file === null
        ? null
        : [file.size, file.bytes === null ? null : Buffer.from(file.bytes).toString()];
    };
    assert.deepEqual(await read(first, 'a [b] *.txt'), [4, 'one\n']);
    assert.deepEqual(await read(second, 'a [b] *.txt'), [4, 'two\n']);
    assert.deepEqual(await read(second, 'a [b] *.txt', 3), [4, null]);
    assert.deepEqual(await read(second, 'folder/x.bin'), [3, '\0\u0001\u0002']);
    for (const path of ['folder', 'none', '*.txt', ':(glob)**', '--help']) {
      assert.equal(await read(second, path), null, path);
    }
    assert.equal((await repository.fileAt('HEAD', 'a', 9)).ok, false);
  });

  test('a merge is reverted on top of later commits', async () => {
    write('a.txt', 'one\n');
    const base = commit('base');
    fixture.git('checkout', '-qb', 'side');
    write('side.txt', 'side\n');
    commit('side');
    fixture.git('checkout', '-q', 'main');
    fixture.git('merge', '-q', '--no-ff', '-m', 'merge side', 'side');
    const merge = fixture.git('rev-parse', 'HEAD');
    write('later.txt', 'later\n');
    const tip = commit('later');
    const request = { commit: merge, subject: 'take it back', trailers: ['Drover-Undo: task'] };
    const revert = valueOf(await repository.revertOf(request));
    const merged = valueOf(
      await repository.merge({ tip, commit: revert, subject: 'undo', trailers: [] }),
    );
    assert.ok(merged.kind === 'merged');
    const names = fixture.git('ls-tree', '--name-only', merged.commit).split('\n');
    assert.ok(names.includes('later.txt') && names.includes('a.txt'));
    assert.ok(!names.includes('side.txt'));
    assert.equal(
      fixture.git('rev-parse', `${revert}^{tree}`),
      fixture.git('rev-parse', `${base}^{tree}`),
    );
    assert.match(fixture.git('log', '-1', '--format=%B', revert), /Drover-Undo: task/u);
  });
});
