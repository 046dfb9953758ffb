// Files that git does not show, or shows as changed without a change, are kept and cost no folder.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import { leftoversOf, makeFixture, valueOf, type Fixture } from './fixture.ts';
import type { SlotOutcome, SlotRequest } from '../../server/git/slot-port.ts';

suite('git: changes in a slot that git reports wrongly', () => {
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
  /** Whether some version that is reachable from a snapshot has exactly this content. */
  const isKept = (path: string, content: string): boolean =>
    fixture
      .git('rev-list', '--glob=refs/drover/work')
      .split('\n')
      .filter((sha) => sha !== '')
      .some((sha) => {
        if (fixture.git('ls-tree', '--name-only', sha, '--', path) === '') return false;
        return fixture.git('show', `${sha}:${path}`) === content;
      });

  /** The first attempt has changed one file in a commit, and the next one starts from the base. */
  async function afterOneCommit(): Promise<void> {
    await prepare();
    write('README.md', 'of the attempt\n');
    const task = { path: slot(), branch: 'drover/t/1', base };
    valueOf(await repository.commitLeftovers(leftoversOf(task)));
  }

  const aside = (): readonly string[] =>
    readdirSync(fixture.slots).filter((name) => name.includes('.kept-'));

  test('files that git reports as changed right after its own checkout cost no folder', async () => {
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
    // Added with its attributes, it has other line endings.
    const other = commit('ends.txt', 'three\r\nfour\r\n');
    const third = await prepare({ branch: 'drover/t/3', sha: other });
    assert.equal(third.created, false);
    assert.equal(read('ends.txt'), 'three\nfour\n');
    const removed = await repository.removeWorktree({ path: slot(), label: 't/3', force: false });
    assert.equal(valueOf(removed).kind, 'removed');
    assert.deepEqual(aside(), []);
  });

  test('a removal keeps files that an agent hid from git', async () => {
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
});
