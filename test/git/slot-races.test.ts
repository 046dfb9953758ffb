// Another process writes into a slot during its emptying or removal: its files are kept, and do not
// reach the next task.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import { leftoversOf, letGitMoveRefs, makeFixture, valueOf, type Fixture } from './fixture.ts';
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

  /** Runs `script` in the slot right before or after the first git command whose arguments match the pattern. */
  async function meanwhile(
    when: 'before' | 'after',
    pattern: string,
    script: string,
  ): Promise<void> {
    if (pattern === afterRefMove) letGitMoveRefs(fixture);
    const file = join(fixture.home, 'watched-git');
    const done = join(fixture.home, 'done');
    const act = `case "$*" in ${pattern}) if [ ! -e "${done}" ]; then touch "${done}"; (cd "${slot()}" && ${script}); fi;; esac`;
    const run = 'git "$@"; code=$?';
    const lines = when === 'before' ? [act, run] : [run, act];
    writeFileSync(file, ['#!/bin/sh', ...lines, 'exit $code', ''].join('\n'), { mode: 0o755 });
    repository = await fixture.open({ binary: file });
  }
  const wasMet = (): boolean => existsSync(join(fixture.home, 'done'));

  /** The first attempt has changed one file in a commit, the next one starts from the base. */
  async function afterOneCommit(): Promise<void> {
    await prepare();
    write('README.md', 'of the attempt\n');
    const task = { path: slot(), branch: 'drover/t/1', base };
    valueOf(await repository.commitLeftovers(leftoversOf(task)));
  }

  for (const when of ['before', 'after'] as const) {
    for (const path of ['README.md', 'early.txt', 'early/early.txt']) {
      test(`while it is made, ${when} its files are written: ${path}`, async () => {
        const script = `mkdir -p "$(dirname ${path})" && echo early > ${path}`;
        await meanwhile(when, '*"read-tree -m -u "*" HEAD"*', script);
        const made = await prepare({ branch: 'drover/t/2' });
        assert.ok(wasMet());
        assert.equal(made.created, true);
        assert.equal(fixture.git('show', `${made.keptRef}:${path}`), 'early');
        assertReady();
      });
    }
  }

  for (const path of ['README.md', 'early.txt', 'early/early.txt']) {
    for (const [how, more] of [
      ['staged', ''],
      ['committed on a HEAD without a commit', ' && git commit -qm early'],
    ] as const) {
      test(`while it is made, before its files are written: ${path}, ${how}`, async () => {
        const unborn = more === '' ? '' : 'git symbolic-ref HEAD refs/heads/none && ';
        const back = more === '' ? '' : ' && git symbolic-ref HEAD refs/heads/drover/t/2';
        const script = `mkdir -p "$(dirname ${path})" && echo early > ${path} && ${unborn}git add ${path}${more}${back}`;
        await meanwhile('before', '*"read-tree -m -u "*" HEAD"*', script);
        const made = await prepare({ branch: 'drover/t/2' });
        assert.ok(wasMet());
        assert.equal(made.created, true);
        assert.equal(fixture.git('show', `${made.keptRef}:${path}`), 'early');
        assertReady();
      });
    }
  }

  const afterLook = '*" status "*|"status "*';
  const afterRefMove = '*"update-ref "*';
  const edits: readonly (readonly [string, string, string])[] = [
    ['a file that the next base has otherwise', 'README.md', 'late'],
    ['a file that the next base has alike', 'src/a.txt', 'late'],
    ['a new file', 'late.txt', 'late'],
    ['a new file in a new folder', 'late/late.txt', 'late'],
  ];
  for (const [what, path, content] of edits) {
    const script = `mkdir -p "$(dirname ${path})" && echo ${content} > ${path}`;
    for (const restarted of [false, true]) {
      const state = restarted ? 'that holds more' : 'that was clean';
      test(`after the look at a slot ${state}: ${what}`, async () => {
        await afterOneCommit();
        if (restarted) write('found.txt', 'found\n');
        await meanwhile('after', afterLook, script);
        await prepare({ branch: 'drover/t/2' });
        assert.ok(wasMet());
        assert.ok(isKept(path, content));
        if (restarted) assert.ok(isKept('found.txt', 'found'));
        assertReady();
      });
    }
    test(`after the snapshot: ${what}`, async () => {
      await afterOneCommit();
      write('found.txt', 'found\n');
      write('README.md', 'found too\n');
      await meanwhile('after', afterRefMove, script);
      await prepare({ branch: 'drover/t/2' });
      assert.ok(wasMet());
      assert.ok(isKept(path, content));
      assert.ok(isKept('found.txt', 'found'));
      assert.ok(isKept('README.md', 'found too'));
      assertReady();
    });
    test(`after the switch: ${what}`, async () => {
      await afterOneCommit();
      write('found.txt', 'found\n');
      await meanwhile('after', '*"switch "*', script);
      await prepare({ branch: 'drover/t/2' });
      assert.ok(wasMet());
      assert.ok(isKept(path, content));
      assertReady();
    });
  }

  test('a file that a snapshot holds already is changed again', async () => {
    await afterOneCommit();
    write('found.txt', 'found\n');
    await meanwhile('after', afterRefMove, 'echo later > found.txt');
    await prepare({ branch: 'drover/t/2' });
    assert.ok(isKept('found.txt', 'found'));
    assert.ok(isKept('found.txt', 'later'));
    assertReady();
  });

  test('what keeps being written moves aside with its folder', async () => {
    await afterOneCommit();
    write('found.txt', 'found\n');
    letGitMoveRefs(fixture);
    const file = join(fixture.home, 'noisy-git');
    const act = `case "$*" in *" update-ref "*|"update-ref "*) echo x >> "${slot()}/found.txt";; esac`;
    writeFileSync(file, `#!/bin/sh\n${act}\nexec git "$@"\n`, { mode: 0o755 });
    repository = await fixture.open({ binary: file });
    await prepare({ branch: 'drover/t/2' });
    const noise = readFileSync(join(fixture.slots, aside()[0] ?? '', 'files', 'found.txt'), 'utf8');
    assert.match(noise, /^found\n(x\n)+$/);
    assert.equal(existsSync(join(slot(), 'found.txt')), false);
    assert.equal(inSlot('rev-parse', '--abbrev-ref', 'HEAD'), 'drover/t/2');
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

  for (const [what, act] of [
    ['git cannot write', `echo "error: unable to unlink old 'README.md': denied" >&2; exit 128`],
    ['git cannot remove', `git "$@"; echo found > found.txt; exit 0`],
  ] as const) {
    test(`a slot that ${what} moves aside, and the task gets another one`, async () => {
      await afterOneCommit();
      write('found.txt', 'found\n');
      write('README.md', 'found too\n');
      const file = join(fixture.home, 'denied-git');
      const lines = [
        `case "$*" in *"read-tree -m -u "*) if [ -e found.txt ]; then`,
        act,
        'fi;; esac',
      ];
      const script = ['#!/bin/sh', ...lines, 'exec git "$@"', ''].join('\n');
      writeFileSync(file, script, { mode: 0o755 });
      repository = await fixture.open({ binary: file });
      await prepare({ branch: 'drover/t/2' });
      assert.equal(aside().length, 1);
      assert.ok(isKept('found.txt', 'found'));
      assert.ok(isKept('README.md', 'found too'));
      assertReady();
    });
  }

  for (const found of [false, true]) {
    test(`a removal${found ? ' of what holds more' : ''}: a file that comes in after the look is kept`, async () => {
      await afterOneCommit();
      if (found) write('found.txt', 'found\n');
      const pattern = found ? afterRefMove : afterLook;
      await meanwhile('after', pattern, 'echo late > late.txt; echo late > README.md');
      const removed = valueOf(
        await repository.removeWorktree({ path: slot(), label: 't/1', force: false }),
      );
      assert.ok(wasMet());
      assert.equal(removed.kind, 'removed');
      assert.equal(existsSync(slot()), false);
      assert.ok(isKept('late.txt', 'late'));
      assert.ok(isKept('README.md', 'late'));
    });
  }

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
