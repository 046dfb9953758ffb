// Another process writes into a slot during its emptying or removal: its files are kept, and do not
// reach the next task.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import { leftoversOf, makeFixture, valueOf, type Fixture } from './fixture.ts';
import type { SlotOutcome, SlotRequest } from '../../server/git/slot-port.ts';

suite('git: a slot that is written into while it is emptied', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let base: string;
  setup(async () => {
    fixture = makeFixture();
    repository = await fixture.open();
    base = fixture.git('rev-parse', 'main');
  });
  teardown(() => fixture.remove());

  const slot = (): string => fixture.slot('s0');
  const prepare = async (change: Partial<SlotRequest> = {}): Promise<SlotOutcome> =>
    valueOf(
      await repository.prepareSlot({
        path: slot(),
        branch: 'drover/t/1',
        sha: base,
        keepBranch: false,
        dropIgnored: false,
        sparse: null,
        use: 'task',
        ...change,
      }),
    );
  const inSlot = (...args: readonly string[]): string => fixture.gitIn(slot(), ...args);
  const write = (path: string, content: string): void => fixture.write(join(slot(), path), content);
  const read = (path: string): string => readFileSync(join(slot(), path), 'utf8');
  const assertReady = (): void => {
    assert.equal(inSlot('rev-parse', 'HEAD'), base);
    assert.equal(inSlot('rev-parse', '--abbrev-ref', 'HEAD'), 'drover/t/2');
    assert.equal(inSlot('status', '--porcelain'), '');
  };
  /** Whether some version that a snapshot leads to has just this content. */
  const isKept = (path: string, content: string): boolean =>
    fixture
      .git('rev-list', '--glob=refs/drover/work')
      .split('\n')
      .filter((sha) => sha !== '')
      .some((sha) => {
        if (fixture.git('ls-tree', '--name-only', sha, '--', path) === '') return false;
        return fixture.git('show', `${sha}:${path}`) === content;
      });

  /** The first attempt has changed one file in a commit, the next one starts from the base. */
  async function afterOneCommit(): Promise<void> {
    await prepare();
    write('README.md', 'of the attempt\n');
    const task = { path: slot(), branch: 'drover/t/1', base };
    valueOf(await repository.commitLeftovers(leftoversOf(task)));
  }

  test('what a process writes into it while it passes from task to task is kept', async () => {
    await prepare();
    const ledger = join(fixture.home, 'ledger');
    const words = 'n=0; while :; do n=$((n+1)); echo $n > late-$n.txt && echo $n >> "$0"; done';
    const writer = spawn('sh', ['-c', words, ledger], { cwd: slot(), stdio: 'ignore' });
    const ended = new Promise((resolve) => writer.once('exit', resolve));
    for (let next = 2; next < 6; next += 1) await prepare({ branch: `drover/t/${next}` });
    writer.kill('SIGKILL');
    await ended;
    await prepare({ branch: 'drover/t/2' });
    assertReady();
    const commits = fixture.git('rev-list', '--glob=refs/drover/work').split('\n');
    const kept = new Set(
      commits.flatMap((sha) => fixture.git('ls-tree', '--name-only', sha).split('\n')),
    );
    const inFolders = readdirSync(fixture.slots, { recursive: true }).map((path) =>
      basename(String(path)),
    );
    const written = readFileSync(ledger, 'utf8').trim().split('\n');
    const lost = written.filter(
      (n) => !kept.has(`late-${n}.txt`) && !inFolders.includes(`late-${n}.txt`),
    );
    assert.ok(written.length > 0);
    assert.deepEqual(lost, []);
  });

  const aside = (): readonly string[] =>
    readdirSync(fixture.slots).filter((name) => name.includes('.kept-'));

  test('what git reports as changed right after its own checkout costs no folder', async () => {
    const commit = (path: string, content: string): string => {
      fixture.write(join(fixture.root, path), content);
      fixture.git('add', path);
      fixture.git('commit', '-q', '-m', path);
      return fixture.git('rev-parse', 'main');
    };
    commit('ends.txt', 'one\r\ntwo\r\n');
    base = commit('.gitattributes', 'ends.txt text\n');
    await prepare();
    write('found.txt', 'found\n');
    write('ends.txt', 'one\r\ntwo\r\n');
    const second = await prepare({ branch: 'drover/t/2' });
    assert.equal(second.created, false);
    assert.ok(isKept('found.txt', 'found'));
    write('ends.txt', 'one\r\ntwo\r\n');
    // Added with its attributes, it has other line ends.
    const other = commit('ends.txt', 'three\r\nfour\r\n');
    const third = await prepare({ branch: 'drover/t/3', sha: other });
    assert.equal(third.created, false);
    assert.equal(read('ends.txt'), 'three\nfour\n');
    const removed = await repository.removeWorktree({ path: slot(), label: 't/3', force: false });
    assert.equal(valueOf(removed).kind, 'removed');
    assert.deepEqual(aside(), []);
  });

  for (const next of ['removal', 'use'] as const) {
    test(`a removal that died before its end: the next ${next} takes up what it moved aside`, async () => {
      await afterOneCommit();
      write('late.txt', 'late');
      renameSync(slot(), `${slot()}.removed-1a2b3c4d`);
      if (next === 'use') {
        assert.equal((await prepare({ branch: 'drover/t/2' })).created, false);
        assertReady();
      } else {
        const removed = await repository.removeWorktree({
          path: slot(),
          label: 't/1',
          force: false,
        });
        assert.equal(valueOf(removed).kind, 'removed');
      }
      assert.ok(isKept('late.txt', 'late'));
      const left = readdirSync(fixture.slots).filter((name) => name.includes('.removed-'));
      assert.deepEqual(left, []);
    });
  }

  test('a removal keeps what an agent told git not to look at', async () => {
    await afterOneCommit();
    inSlot('update-index', '--assume-unchanged', 'src/a.txt');
    inSlot('update-index', '--skip-worktree', 'src/b.txt');
    write('src/a.txt', 'unseen\n');
    write('src/b.txt', 'unseen too\n');
    const removed = await repository.removeWorktree({ path: slot(), label: 't/1', force: false });
    assert.equal(valueOf(removed).kind, 'removed');
    assert.ok(isKept('src/a.txt', 'unseen'));
    assert.ok(isKept('src/b.txt', 'unseen too'));
  });

  test('folders without files go too', async () => {
    await afterOneCommit();
    write('found/file.txt', 'x\n');
    write('empty/deep/file.txt', 'x\n');
    inSlot('clean', '-q', '-f', 'empty/deep');
    await prepare({ branch: 'drover/t/2' });
    assert.equal(existsSync(join(slot(), 'found')), false);
    assert.equal(existsSync(join(slot(), 'empty')), false);
    assert.ok(read('README.md').startsWith('one'));
  });
});
