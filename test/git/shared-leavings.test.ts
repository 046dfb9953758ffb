// What an agent leaves in the folder that all worktrees share, and what is large only on disk.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import {
  leftoversOf,
  makeFixture,
  startTask,
  valueOf,
  type Fixture,
  type Task,
} from './fixture.ts';

suite('git: shared leavings', () => {
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
  const write = (path: string, content: string): void =>
    fixture.write(join(task.path, path), content);
  const commit = () => repository.commitLeftovers(leftoversOf(task));

  for (const committed of [false, true]) {
    const by = committed ? ', committed by the agent' : '';
    test(`A1: a large file that a filter stores as a pointer is not held${by}`, async () => {
      fixture.write(join(fixture.root, '.gitattributes'), '*.bin filter=pointer\n');
      fixture.git('add', '-A');
      fixture.git('commit', '-qm', 'attributes');
      fixture.git('config', 'filter.pointer.clean', 'wc -c');
      fixture.git('config', 'filter.pointer.smudge', 'cat');
      repository = await fixture.open();
      task = await startTask(fixture, repository, 's0', 'task-2');
      write('asset.bin', 'x'.repeat(2 * 1024 * 1024));
      write('large.txt', 'x'.repeat(2 * 1024 * 1024));
      if (committed) {
        inSlot('add', 'asset.bin');
        inSlot('commit', '-qm', 'asset');
      }
      const done = valueOf(await commit());
      assert.deepEqual(done.held, ['large.txt']);
      assert.equal(fixture.git('show', `${done.commit}:asset.bin`).trim(), '2097152');
    });
  }

  test('A5: a stash of the attempt becomes a snapshot; the person’s stay as they are', async () => {
    fixture.write(join(fixture.root, 'README.md'), 'mine\n');
    fixture.git('stash', 'push', '-qm', 'of the person');
    const mine = fixture.git('rev-parse', 'stash@{0}');
    write('README.md', 'of the agent\n');
    inSlot('stash');
    write('src/a.txt', 'of the agent\n');
    inSlot('stash', 'push', '-qm', 'with words');
    const done = valueOf(await commit());
    assert.deepEqual([done.changed, done.aside], [false, true]);
    assert.equal(fixture.git('stash', 'list', '--format=%H'), mine);
    const kept = fixture.git('log', '--format=%H', 'refs/drover/work/task-1/1').split('\n');
    const holds = (path: string): boolean =>
      kept.some((sha) => fixture.git('show', `${sha}:${path}`) === 'of the agent');
    assert.deepEqual([holds('README.md'), holds('src/a.txt')], [true, true]);
  });

  test('A5: an identity that the agent has set is taken back, and so is core.bare', async () => {
    inSlot('config', 'user.email', 'bot@agent.invalid');
    inSlot('config', 'author.name', 'Bot');
    inSlot('config', 'alias.mine', 'status');
    fixture.git('config', 'core.bare', 'true');
    valueOf(await commit());
    const now = (key: string): string => fixture.git('config', '--default', '', '--get', key);
    assert.deepEqual(['user.email', 'user.name', 'author.name', 'alias.mine'].map(now), [
      'person@example.org',
      'A Person',
      '',
      'status',
    ]);
    assert.equal(fixture.git('status', '--porcelain'), '');
  });

  const stashes = (): string => fixture.git('stash', 'list', '--format=%H %gs');

  /** A stash of the person's, made before the agent of the next attempt starts. */
  async function stashThenStart(): Promise<string> {
    fixture.write(join(fixture.root, 'README.md'), 'mine\n');
    fixture.write(join(fixture.root, 'src', 'a.txt'), 'mine too\n');
    fixture.git('stash', 'push', '-qm', 'of the person');
    task = await startTask(fixture, repository, 's0', 'task-2');
    return stashes();
  }

  for (const isCommitted of [false, true]) {
    const then = isCommitted ? ', and has committed' : '';
    test(`a stash of the person that an agent has popped${then} is back, and no work of the agent`, async () => {
      const before = await stashThenStart();
      write('src/b.txt', 'of the agent\n');
      inSlot('stash', 'pop', '-q');
      if (isCommitted) inSlot('commit', '-qam', 'all');
      const done = valueOf(await commit());
      assert.equal(stashes(), before);
      const changed = fixture.git('diff', '--name-only', task.base, done.commit);
      assert.equal(changed, 'src/b.txt');
    });
  }

  test('what an agent has changed after it popped a stash of the person waits for a review', async () => {
    const before = await stashThenStart();
    inSlot('stash', 'pop', '-q');
    write('README.md', 'mine\nand of the agent\n');
    const done = valueOf(await commit());
    assert.equal(stashes(), before);
    assert.deepEqual(done.held, ['README.md']);
  });

  test('a stash of the person that an agent has dropped is kept', async () => {
    const [sha = ''] = (await stashThenStart()).split(' ');
    inSlot('stash', 'clear');
    write('src/b.txt', 'of the agent\n');
    valueOf(await commit());
    assert.equal(fixture.git('rev-parse', `refs/drover/rescue/stashes/${sha}`), sha);
  });

  test('files that git did not know are taken out of the slot with the rest of the stash', async () => {
    fixture.write(join(fixture.root, 'loose.txt'), 'mine\n');
    fixture.git('stash', 'push', '-q', '--include-untracked');
    task = await startTask(fixture, repository, 's0', 'task-2');
    const before = stashes();
    write('src/b.txt', 'of the agent\n');
    inSlot('stash', 'pop', '-q');
    const done = valueOf(await commit());
    assert.equal(stashes(), before);
    assert.equal(fixture.git('diff', '--name-only', task.base, done.commit), 'src/b.txt');
  });

  test('a stash that the person has popped and committed stays in work that has merged it', async () => {
    await stashThenStart();
    fixture.git('stash', 'pop', '-q');
    fixture.git('commit', '-qam', 'mine');
    inSlot('merge', '-q', 'main');
    write('src/b.txt', 'of the agent\n');
    const done = valueOf(await commit());
    assert.equal(fixture.git('show', `${done.commit}:README.md`), 'mine');
    assert.equal(stashes(), '');
  });

  test('a stash that the person pops while an agent is running stays popped', async () => {
    await stashThenStart();
    write('src/b.txt', 'of the agent\n');
    fixture.git('stash', 'pop', '-q');
    valueOf(await commit());
    assert.equal(stashes(), '');
  });
});
