// Content that an attempt may not add to the history: links out of the project, and files that were
// too large in any of its commits.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { removeFolder } from '../remove-folder.ts';
import type { GitRepository } from '../../server/git/port.ts';
import type { CommitLeftoversOutcome } from '../../server/git/slot-port.ts';
import {
  leftoversOf,
  makeFixture,
  startTask,
  valueOf,
  type Fixture,
  type Task,
} from './fixture.ts';

suite('git: content that must not enter the history', () => {
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
  const commit = async (linksAllowed: readonly string[] = []): Promise<CommitLeftoversOutcome> =>
    valueOf(await repository.commitLeftovers({ ...leftoversOf(task), linksAllowed }));
  const link = (path: string, target: string): void => {
    mkdirSync(dirname(join(task.path, path)), { recursive: true });
    symlinkSync(target, join(task.path, path));
  };
  const rest = async (done: CommitLeftoversOutcome): Promise<string> => {
    const request = { base: task.base, commit: done.commit, held: done.held };
    const made = valueOf(
      await repository.withoutHeld({
        ...request,
        maxFileSize: 1024 * 1024,
        subject: 'rest',
        trailers: [],
      }),
    );
    return made ?? '';
  };

  suite('links out of the project', () => {
    for (const [what, links, held] of [
      ['a whole path', { coverage: '/tmp/elsewhere' }, { coverage: '/tmp/elsewhere' }],
      ['a whole path into the slot', { 'a/l': '/' }, { 'a/l': '/' }],
      ['one that climbs out', { 'src/up': '../../x' }, { 'src/up': '../../x' }],
      ['one that climbs out and comes back', { up: '../s0/src' }, { up: '../s0/src' }],
      [
        'one through another link',
        { 'deep/er/dir': '../../src', 'by/way': '../deep/er/dir/../../x' },
        { 'by/way': '../deep/er/dir/../../x' },
      ],
      ['one into the git folder', { hooks: 'src/../.git/hooks' }, { hooks: 'src/../.git/hooks' }],
      [
        'links that stay inside, are broken, or are loops',
        {
          'src/in': '../README.md',
          'a/b/c': '../../src',
          gone: 'nothing/there',
          one: 'two',
          two: 'one',
        },
        {},
      ],
    ] as const) {
      for (const isCommitted of [false, true]) {
        const by = isCommitted ? ', committed by the agent' : '';
        test(`${what}${by}`, async () => {
          for (const [path, target] of Object.entries(links)) link(path, target);
          write('src/b.txt', 'of the agent\n');
          if (isCommitted) {
            inSlot('add', '-A');
            inSlot('commit', '-qm', 'links');
          }
          const done = await commit();
          assert.deepEqual(
            done.heldCauses,
            Object.fromEntries(Object.entries(held).map(([path, target]) => [path, { target }])),
          );
          assert.deepEqual(done.held, Object.keys(held));
          if (done.held.length === 0) return;
          const changed = inSlot('diff', '--name-only', task.base, await rest(done)).split('\n');
          assert.ok(changed.includes('src/b.txt'));
          for (const path of Object.keys(held)) assert.ok(!changed.includes(path), path);
        });
      }
    }

    test('replacing a folder with a link also removes a known link in it', async () => {
      fixture.write(join(fixture.root, 'a', 'b', 'x.txt'), 'x\n');
      symlinkSync('a/b/../../src', join(fixture.root, 'known'));
      fixture.git('add', '-A');
      fixture.git('commit', '-qm', 'known');
      task = await startTask(fixture, repository, 's0', 'task-2');
      removeFolder(join(task.path, 'a'));
      link('a/b', '../src');
      rmSync(join(task.path, 'a', 'b'));
      removeFolder(join(task.path, 'a'));
      link('a', 'src');
      link('src/b', '..');
      rmSync(join(task.path, 'src', 'b.txt'));
      assert.deepEqual((await commit()).held, ['known']);
    });

    test('links that the base has are not held again, but changed ones are', async () => {
      for (const name of ['same', 'changed']) symlinkSync('/base', join(fixture.root, name));
      fixture.git('add', '-A');
      fixture.git('commit', '-qm', 'links of the project');
      task = await startTask(fixture, repository, 's0', 'task-2');
      rmSync(join(task.path, 'changed'));
      link('changed', '/other');
      link('inside', 'src');
      write('src/b.txt', 'of the agent\n');
      const done = await commit();
      assert.deepEqual(done.held, ['changed']);
      assert.equal(fixture.git('show', `${await rest(done)}:changed`), '/base');
    });

    test('links that the project allows land', async () => {
      link('data/set', '/data/set');
      link('other', '/data/set');
      assert.deepEqual((await commit(['data'])).held, ['other']);
    });

    test('a link that the agent hides from its worktree is held anyway', async () => {
      link('hidden', '/tmp');
      inSlot('add', 'hidden');
      inSlot('commit', '-qm', 'hidden');
      inSlot('update-index', '--skip-worktree', 'hidden');
      rmSync(join(task.path, 'hidden'));
      assert.deepEqual((await commit()).held, ['hidden']);
    });
  });

  suite("files that were too large in one of the attempt's commits", () => {
    const large = 'x'.repeat(2 * 1024 * 1024);
    const sizes = (tip: string): boolean =>
      fixture
        .git('rev-list', '--objects', `${task.base}..${tip}`)
        .split('\n')
        .some((line) => Number(fixture.git('cat-file', '-s', line.split(' ')[0] ?? '')) > 1e6);

    test('a file that a later commit removes is held, and is not in a landing without it', async () => {
      write('large.bin', large);
      inSlot('add', '-A');
      inSlot('commit', '-qm', 'large');
      inSlot('rm', '-q', 'large.bin');
      write('src/b.txt', 'of the agent\n');
      inSlot('commit', '-qam', 'without it');
      const done = await commit();
      assert.deepEqual(done.held, ['large.bin']);
      assert.equal(sizes(done.commit), true);
      const tip = await rest(done);
      assert.equal(sizes(tip), false);
      assert.equal(fixture.git('diff', '--name-only', task.base, tip), 'src/b.txt');
    });

    test('a file that a later commit makes small is held, and lands small', async () => {
      write('data.bin', large);
      inSlot('add', '-A');
      inSlot('commit', '-qm', 'large');
      write('data.bin', 'small\n');
      const done = await commit();
      assert.deepEqual(done.held, ['data.bin']);
      const tip = await rest(done);
      assert.equal(sizes(tip), false);
      assert.equal(fixture.git('show', `${tip}:data.bin`), 'small');
    });

    test('a file that is still large is left out', async () => {
      write('data.bin', large);
      write('src/b.txt', 'of the agent\n');
      inSlot('add', '-A');
      inSlot('commit', '-qm', 'large');
      const done = await commit();
      assert.deepEqual(done.held, ['data.bin']);
      assert.equal(fixture.git('diff', '--name-only', task.base, await rest(done)), 'src/b.txt');
    });

    test('a file that the user committed and the agent merged is not held', async () => {
      fixture.write(join(fixture.root, 'asset.bin'), large);
      fixture.git('add', '-A');
      fixture.git('commit', '-qm', 'asset');
      inSlot('merge', '-q', 'main');
      write('src/b.txt', 'of the agent\n');
      assert.deepEqual((await commit()).held, []);
    });

    test('a secret that a later commit removes is held', async () => {
      write('.env', 'TOKEN=x\n');
      inSlot('add', '-Af');
      inSlot('commit', '-qm', 'secret');
      inSlot('rm', '-q', '.env');
      write('src/b.txt', 'of the agent\n');
      assert.deepEqual((await commit()).held, ['.env']);
    });
  });
});
