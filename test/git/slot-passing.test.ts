// A slot whose files are all committed passes to the next task. Changes in it are kept, and do not
// reach that task.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import type { SlotOutcome } from '../../server/git/slot-port.ts';
import { leftoversOf, makeFixture, valueOf, type Fixture } from './fixture.ts';

suite('git: a slot that passes to the next task', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let base: string;
  /** The commit of the first task. */
  let first: string;
  setup(async () => {
    fixture = makeFixture();
    repository = await fixture.open();
    base = fixture.git('rev-parse', 'main');
    await prepare(1);
    write('README.md', 'of the first task\n');
    write('made.txt', 'made\n');
    const task = { path: slot(), branch: 'drover/t-1/1', base };
    first = valueOf(await repository.commitLeftovers(leftoversOf(task))).commit;
  });
  teardown(() => fixture.remove());

  const slot = (): string => fixture.slot('s0');
  const prepare = async (number: number, sha = base): Promise<SlotOutcome> =>
    valueOf(
      await repository.prepareSlot({
        path: slot(),
        branch: `drover/t-${number}/1`,
        sha,
        keepBranch: false,
        dropIgnored: false,
        sparse: null,
        use: 'task',
      }),
    );
  const inSlot = (...args: readonly string[]): string => fixture.gitIn(slot(), ...args);
  const write = (path: string, content: string): void => fixture.write(join(slot(), path), content);
  const keptTexts = (path: string): readonly string[] =>
    fixture
      .git('rev-list', '--glob=refs/drover/work')
      .split('\n')
      .filter((sha) => sha !== '' && fixture.git('ls-tree', sha, '--', path) !== '')
      .map((sha) => fixture.git('show', `${sha}:${path}`));
  /** It contains only its commit, and so does a commit of an agent's work there. */
  async function assertReady(sha: string): Promise<void> {
    assert.equal(inSlot('rev-parse', 'HEAD'), sha);
    assert.equal(inSlot('status', '--porcelain'), '');
    write('second.txt', '2\n');
    const task = { path: slot(), branch: 'drover/t-2/1', base: sha };
    const { commit } = valueOf(await repository.commitLeftovers(leftoversOf(task)));
    assert.equal(fixture.git('diff', '--name-only', sha, commit), 'second.txt');
  }

  for (const [where, target] of [
    ['its own commit', () => first],
    ['the base', () => base],
  ] as const) {
    test(`nothing has changed in it, with ${where}`, async () => {
      assert.deepEqual(await prepare(2, target()), { created: false, keptRef: null });
      await assertReady(target());
    });

    for (const [what, path] of [
      ['a file that the switch changes', 'README.md'],
      ['a file that it leaves alone', 'src/a.txt'],
      ['a new file', 'new.txt'],
      ['a new file in a new folder', 'new/new.txt'],
    ] as const) {
      test(`a person wrote ${what}, with ${where}`, async () => {
        write(path, 'by hand\n');
        const { keptRef } = await prepare(2, target());
        assert.match(keptRef ?? '', /^refs\/drover\/work\/t-1\/1/);
        assert.deepEqual(keptTexts(path).includes('by hand'), true);
        await assertReady(target());
      });
    }

    test(`a person deleted a file that the switch restores, with ${where}`, async () => {
      rmSync(join(slot(), 'README.md'));
      const { keptRef } = await prepare(2, target());
      assert.ok(keptRef);
      assert.equal(fixture.git('ls-tree', keptRef, '--', 'README.md'), '');
      await assertReady(target());
    });

    test(`a person staged something, with ${where}`, async () => {
      write('README.md', 'staged\n');
      inSlot('add', 'README.md');
      write('README.md', 'of the first task\n');
      const { keptRef } = await prepare(2, target());
      assert.ok(keptTexts('README.md').includes('staged') || keptRef !== null);
      await assertReady(target());
    });

    for (const flag of ['--assume-unchanged', '--skip-worktree']) {
      test(`a person hid a change with ${flag}, with ${where}`, async () => {
        write('README.md', 'hidden\n');
        inSlot('update-index', flag, 'README.md');
        await prepare(2, target());
        assert.ok(keptTexts('README.md').includes('hidden'));
        await assertReady(target());
      });
    }

    test(`a person committed there and went back, with ${where}`, async () => {
      write('README.md', 'committed\n');
      inSlot('commit', '-qam', 'by hand');
      inSlot('reset', '-q', '--hard', first);
      await prepare(2, target());
      assert.ok(keptTexts('README.md').includes('committed'));
      await assertReady(target());
    });
  }

  test('an ignore file that ignores itself is found if the next base has one', async () => {
    fixture.write(join(fixture.root, 'sub/.gitignore'), '*.log\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-q', '-m', 'rules');
    const next = fixture.git('rev-parse', 'main');
    write('sub/.gitignore', '*\n');
    write('sub/hidden.txt', 'hidden\n');
    await prepare(2, next);
    assert.ok(keptTexts('sub/hidden.txt').includes('hidden'));
    assert.ok(keptTexts('sub/.gitignore').includes('*'));
    await assertReady(next);
  });

  test('an ignore file that ignores itself is found if the next base has none', async () => {
    write('made/.gitignore', '*\n');
    write('made/hidden.txt', 'hidden\n');
    await prepare(2);
    assert.ok(keptTexts('made/hidden.txt').includes('hidden'));
    await assertReady(base);
  });

  test('if a further part of the attempt has failed since, all of it is kept', async () => {
    write('half.txt', 'half\n');
    const request = { path: slot(), label: 't-1/1', reason: 'failed', author: 'agent' } as const;
    const taken = valueOf(await repository.snapshot({ ...request, base }));
    await prepare(2);
    assert.equal(fixture.git('rev-parse', 'refs/drover/work/t-1/1'), taken?.commit);
    await assertReady(base);
  });
});
