// A commit that a person removed from a branch does not come back with landed work: neither when
// the branch follows, nor in the branch that shows waiting work, whichever process died in between.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { landingRef, resultBranch } from '../../server/core/work/ref-names.ts';
import { attemptTrailers, trailer } from '../../server/core/work/trailers.ts';
import { describeWrongState, type WrongState } from '../../server/core/work/wrong-state.ts';
import type { GitRepository } from '../../server/git/port.ts';
import {
  allLines,
  includeBranch,
  landOnLine,
  noteDropped,
  readLine,
  wrongStates,
} from '../../server/store/port.ts';
import type { Engine } from '../../server/workflows/kit/engine-ports.ts';
import { followLine, tendLine } from '../../server/workflows/line/follow.ts';
import { findCommitOnLine } from '../../server/workflows/line/landed.ts';
import { mergeTargetForLanding, syncLine } from '../../server/workflows/line/line.ts';
import { moveLine } from '../../server/workflows/line/move.ts';
import { ownBase, ownBaseOfLine, removedInWork } from '../../server/workflows/line/range.ts';
import { checkWrongStates } from '../../server/workflows/line/wrong-states.ts';
import { followTarget } from '../../server/workflows/person/follow-target.ts';
import { memoryStore, type TestStore } from '../unit/store/memory-store.ts';
import { landedOn, makeFixture, valueOf, type Fixture } from './fixture.ts';

const result = resultBranch('main');

suite('git: a commit that a person removed', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let project: TestStore;
  let engine: Engine;
  setup(async () => {
    fixture = makeFixture();
    repository = await fixture.open();
    project = await memoryStore();
    engine = engineOn(repository);
  });
  teardown(async () => {
    await project.close();
    fixture.remove();
  });

  const engineOn = (git: GitRepository): Engine =>
    ({
      machineId: '',
      lands: () => true,
      knowsDead: () => true,
      store: project.store,
      git,
      settings: () => ({ follow: 'fast-forward' }),
      report: (error: unknown) => assert.fail(String(error)),
    }) as unknown as Engine;

  const shaOf = (name: string): string => fixture.git('rev-parse', name);
  const filesOf = (name: string): string => fixture.git('ls-tree', '-r', '--name-only', name);

  function commit(path: string, text: string, ...options: readonly string[]): string {
    fixture.write(join(fixture.root, path), text);
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', path, ...options);
    return shaOf('HEAD');
  }

  async function sync(): Promise<string> {
    const tip = await syncLine(engine, 'main');
    if (!tip.ok) assert.fail(tip.error.message);
    return tip.value;
  }

  /** The line moves; the row records it unless the process dies right after. */
  async function land(
    id: string,
    files: Readonly<Record<string, string>>,
    isRecorded = true,
  ): Promise<string> {
    const found = await mergeTargetForLanding(engine, 'main');
    if (!found.ok) assert.fail(found.error.message);
    const { tip: old, head, includes } = found.value;
    const next = await landedOn(fixture, repository, head, files, attemptTrailers(id, 1));
    valueOf(await moveLine(engine, 'main', { next, old, reason: 'drover: land', includes }));
    const landed = next;
    if (isRecorded) await project.store.transaction((tx) => landOnLine(tx, 'main', landed));
    return landed;
  }

  function amendAway(path: string): void {
    fixture.git('rm', '-q', path);
    commit('plain.txt', 'plain\n', '--amend');
  }

  async function follow(): Promise<{ readonly pending: number; readonly reason: string }> {
    const { pending, reason } = await followLine(engine, 'main');
    return { pending, reason: reason ?? '' };
  }

  test('it does not come back if the process died right after the line moved', async () => {
    commit('secret.txt', 'secret\n');
    await land('t1', { 't1.txt': 'work\n' }, false);
    fixture.git('reset', '-q', '--hard', 'HEAD~1');
    const before = shaOf('main');
    const { pending, reason } = await follow();
    assert.equal(pending, 1);
    assert.match(reason, /^main was rewritten/);
    assert.equal(shaOf('main'), before);
    const head = await mergeTargetForLanding(engine, 'main');
    assert.ok(head.ok);
    assert.equal(filesOf(head.value.head), 'README.md\nsrc/a.txt\nsrc/b.txt\nt1.txt');
  });

  test('it is not landed work if the process died before it recorded the merge', async () => {
    await sync();
    commit('secret.txt', 'secret\n');
    const dying: GitRepository = {
      ...repository,
      updateRef: async (...args) => {
        await repository.updateRef(...args);
        throw new Error('dead');
      },
    };
    await assert.rejects(syncLine(engineOn(dying), 'main'), /dead/);
    assert.equal(filesOf(landingRef('main')).includes('secret.txt'), true);
    amendAway('secret.txt');
    assert.equal(await sync(), shaOf('main'));
    await land('t1', { 't1.txt': 'work\n' });
    assert.equal((await follow()).pending, 0);
    assert.equal(filesOf('main'), 'README.md\nplain.txt\nsrc/a.txt\nsrc/b.txt\nt1.txt');
  });

  test('it is not in the result branch, and merging the result branch resolves the waiting work', async () => {
    commit('secret.txt', 'secret\n');
    const landed = await land('t1', { 't1.txt': 'work\n' });
    // People have seen it there before, with the commit in it.
    fixture.git('branch', result, landed);
    amendAway('secret.txt');
    assert.equal((await follow()).pending, 1);
    assert.equal(filesOf(result), 'README.md\nplain.txt\nsrc/a.txt\nsrc/b.txt\nt1.txt');
    const shown = shaOf(result);
    await follow();
    assert.equal(shaOf(result), shown, 'it is made once');
    fixture.git('merge', '-q', '--no-edit', result);
    assert.equal((await follow()).pending, 0);
    assert.equal(fixture.git('branch', '--list', result), '');
    assert.equal(await sync(), shaOf('main'));
    assert.equal(filesOf('main').includes('secret.txt'), false);
  });

  test('it is not in the result branch if newer commits conflict with the work, and the recommended merge resolves it', async () => {
    commit('shared.txt', 'all\n');
    commit('secret.txt', 'secret\n');
    await land('t1', { 'shared.txt': 'all\nt1\n' });
    amendAway('secret.txt');
    commit('shared.txt', 'all\nmine\n');
    const { pending, reason } = await follow();
    assert.equal(pending, 1);
    assert.match(reason, /both change shared\.txt; merge drover\/results\/main into main by hand/);
    assert.equal(filesOf(result).includes('secret.txt'), false);
    assert.equal(fixture.git('show', `${result}:shared.txt`), 'all\nt1');
    assert.throws(() => fixture.git('merge', '-q', result));
    writeFileSync(join(fixture.root, 'shared.txt'), 'all\nboth\n');
    fixture.git('commit', '-qam', 'both');
    assert.equal(await sync(), shaOf('main'));
    assert.equal((await follow()).pending, 0);
    assert.equal(fixture.git('show', 'main:shared.txt'), 'all\nboth');
    assert.equal(filesOf('main').includes('secret.txt'), false);
  });

  test('it is not in the result branch if the work has changed it, and the recommended cherry-pick resolves it', async () => {
    commit('secret.txt', 'secret\n');
    await land('t1', { 't1.txt': 'work\n' });
    await land('t2', { 'secret.txt': 'secret, and more\n', 't2.txt': 'work\n' });
    amendAway('secret.txt');
    const { reason } = await follow();
    assert.match(
      reason,
      /both change secret\.txt; merge drover\/results\/main into main by hand, and/,
    );
    assert.equal(filesOf(result), 'README.md\nsrc/a.txt\nsrc/b.txt\nt1.txt');
    fixture.git('merge', '-q', '--no-edit', result);
    const picks = /run git cherry-pick -m 1 ([0-9a-f ]+) on main /.exec(reason)?.[1] ?? '';
    assert.throws(() => fixture.git('cherry-pick', '-m', '1', ...picks.split(' ')));
    fixture.git('rm', '-q', 'secret.txt');
    fixture.git('commit', '-q', '--no-edit');
    assert.equal(await sync(), shaOf('main'));
    assert.equal((await follow()).pending, 0);
    assert.equal(filesOf('main'), 'README.md\nplain.txt\nsrc/a.txt\nsrc/b.txt\nt1.txt\nt2.txt');
  });

  test('an epic that landed with it is recognized again without its history', async () => {
    commit('secret.txt', 'secret\n');
    const tip = await sync();
    const epic = await landedOn(fixture, repository, tip, { 'epic.txt': 'work\n' });
    const request = { tip, commit: epic, subject: 'drover: E', trailers: [trailer('epic', 'E')] };
    const merged = valueOf(await repository.merge(request));
    assert.equal(merged.kind, 'merged');
    if (merged.kind !== 'merged') return;
    const { commit: landed } = merged;
    valueOf(await moveLine(engine, 'main', { next: landed, old: tip, reason: 'drover: land E' }));
    await project.store.transaction((tx) => landOnLine(tx, 'main', landed));
    amendAway('secret.txt');
    assert.equal((await follow()).pending, 1);
    assert.equal(await findCommitOnLine(engine, epic, shaOf(result)), shaOf(result));
    assert.equal(filesOf(result).includes('secret.txt'), false);
  });

  for (const order of ['older first', 'newer first'])
    test(`it does not come back with work on two parallel removed commits: ${order}`, async () => {
      const first = await sync();
      const one = commit('one.txt', 'one\n');
      fixture.git('reset', '-q', '--hard', first);
      const other = commit('other.txt', 'other\n');
      fixture.git('checkout', '-q', '--detach');
      fixture.git('merge', '-q', '--no-edit', one);
      const work = commit('work.txt', 'work\n');
      fixture.git('checkout', '-q', 'main');
      fixture.git('reset', '-q', '--hard', first);
      const dropped = order === 'older first' ? [one, other] : [other, one];
      for (const sha of dropped)
        await project.store.transaction((tx) => noteDropped(tx, 'main', sha));
      const base = await ownBaseOfLine(engine, 'main', { head: first, commit: work });
      const merged = valueOf(
        await repository.merge({ tip: first, commit: work, base, subject: 'x', trailers: [] }),
      );
      assert.equal(merged.kind, 'merged');
      if (merged.kind !== 'merged') return;
      assert.equal(filesOf(merged.commit), 'README.md\nsrc/a.txt\nsrc/b.txt\nwork.txt');
    });

  /** The files that land from the work, which started at a commit, once the person is done. */
  async function landedFiles(work: string, base: string): Promise<string> {
    const head = await sync();
    const own = await ownBase(engine, { head, commit: work, base });
    const merged = valueOf(
      await repository.merge({ tip: head, commit: work, base: own, subject: 'x', trailers: [] }),
    );
    assert.equal(merged.kind, 'merged');
    return merged.kind === 'merged' ? filesOf(merged.commit) : '';
  }

  for (const how of ['a fast-forward', 'a merge'])
    test(`it is named if work in flight has brought it in by ${how}`, async () => {
      const first = await sync();
      const secret = commit('secret.txt', 'secret\n');
      await sync();
      fixture.git('checkout', '-q', '--detach', how === 'a merge' ? first : secret);
      if (how === 'a merge') {
        commit('own.txt', 'own\n');
        fixture.git('merge', '-q', '--no-edit', secret);
      }
      const work = commit('work.txt', 'work\n');
      fixture.git('checkout', '-q', 'main');
      amendAway('secret.txt');
      const head = await sync();
      const removed = (base: string) => removedInWork(engine, 'main', { head, commit: work, base });
      assert.equal(await removed(first), secret);
      assert.equal(await removed(secret), null, 'work that began on it lands its own change');
      fixture.git('merge', '-q', '--no-edit', secret);
      const again = { head: await sync(), commit: work, base: first };
      assert.equal(await removedInWork(engine, 'main', again), null, 'it is back');
    });

  test('it stays out however often people amend and reset while work waits', async () => {
    const first = await sync();
    commit('dropped.txt', 'dropped\n');
    await land('t1', { 't1.txt': 'work\n' });
    const never = { ...engine, settings: () => ({ follow: 'never' }) } as unknown as Engine;
    const tend = (which = never) => tendLine(which, 'main', async () => null);
    assert.equal((await tend()).pending, 1);
    const here = 'README.md\nsrc/a.txt\nsrc/b.txt\nt1.txt';
    commit('taken-0.txt', 'taken in\n');
    for (const round of [1, 2]) {
      await tend();
      assert.ok(filesOf(landingRef('main')).includes(`taken-${round - 1}.txt`));
      fixture.git('mv', `taken-${round - 1}.txt`, `taken-${round}.txt`);
      commit(`plain-${round}.txt`, 'plain\n', '--amend');
      await tend();
      const files = filesOf(landingRef('main'));
      assert.equal(files.includes(`taken-${round - 1}.txt`), false);
      assert.ok(files.includes(`taken-${round}.txt`) && files.includes('t1.txt'));
    }
    fixture.git('reset', '-q', '--hard', first);
    assert.equal((await tend(engine)).pending, 0);
    assert.equal(filesOf('main'), here);
    assert.equal(shaOf('main~1'), first);
  });

  test('a removed and pruned commit that a dead process had recorded stops no line', async () => {
    await sync();
    await land('t1', { 't1.txt': 'work\n' });
    commit('mine.txt', 'mine\n');
    const gone = 'f'.repeat(40);
    await project.store.transaction((tx) => includeBranch(tx, 'main', gone));
    assert.deepEqual(await tendLine(engine, 'main', async () => null), {
      pending: 0,
      reason: null,
    });
    assert.equal(filesOf('main'), 'README.md\nmine.txt\nsrc/a.txt\nsrc/b.txt\nt1.txt');
  });

  test('a branch moves to a tested commit of landings and of people, which is made once', async () => {
    commit('secret.txt', 'secret\n');
    await land('t1', { 't1.txt': 'work\n' });
    amendAway('secret.txt');
    const seen: string[] = [];
    const red = await tendLine(engine, 'main', async ({ commit: made }) => {
      seen.push(made);
      return 'red';
    });
    assert.deepEqual(red, { pending: 1, reason: 'red' });
    const end = await tendLine(engine, 'main', async ({ commit: made }) => {
      seen.push(made);
      return null;
    });
    assert.deepEqual(end, { pending: 0, reason: null });
    assert.deepEqual(seen, [shaOf('main'), shaOf('main')]);
    assert.equal(filesOf('main'), 'README.md\nplain.txt\nsrc/a.txt\nsrc/b.txt\nt1.txt');
  });

  test('a commit that people only tried on the branch is not work in flight', async () => {
    const first = await sync();
    fixture.git('checkout', '-q', '--detach');
    const work = commit('work.txt', 'work\n');
    fixture.git('checkout', '-q', 'main');
    fixture.git('merge', '-q', '--ff-only', work);
    fixture.git('reset', '-q', '--hard', first);
    assert.equal(await landedFiles(work, first), 'README.md\nsrc/a.txt\nsrc/b.txt\nwork.txt');
  });

  suite('a landing that a reset or an aborted rebase removes from the branch', () => {
    let before: string;
    let landed: string;
    setup(async () => {
      before = await sync();
      landed = await land('t1', { 't1.txt': 'work\n' });
      assert.equal((await follow()).pending, 0);
      fixture.git('reset', '-q', '--hard', before);
      assert.equal(await sync(), before);
    });

    const reported = async (): Promise<readonly WrongState[]> =>
      wrongStates(await readLine(project.store.db, 'main'));

    test('it is reported with the ref that keeps it and the command that restores it', async () => {
      const [state, ...others] = await reported();
      assert.ok(state?.kind === 'moved_back' && others.length === 0);
      assert.deepEqual([state.tip, state.commits, shaOf(state.ref)], [landed, 1, landed]);
      assert.match(describeWrongState('main', state), /"drover follow main"/);
      const done = await followTarget(engine, 'main', false);
      assert.deepEqual([done.pending, done.wrong, shaOf('main')], [0, [], landed]);
      assert.equal(fixture.git('status', '--porcelain'), '');
      assert.equal(await sync(), landed);
      assert.deepEqual(await reported(), []);
    });

    test('it stays off the branch if the user wants that, and is no longer reported', async () => {
      const done = await followTarget(engine, 'main', true);
      assert.deepEqual([done.wrong, shaOf('main')], [[], before]);
      assert.equal(await sync(), before);
    });

    test('it is not reported once the user has restored it', async () => {
      fixture.git('merge', '-q', '--ff-only', landed);
      await sync();
      const [line] = await allLines(project.store.db);
      if (line !== undefined) await checkWrongStates(engine, line, null, 1);
      assert.deepEqual(await reported(), []);
    });
  });

  test("it is not reported if the user's rebase gave it another id", async () => {
    const before = await sync();
    const landed = await land('t1', { 't1.txt': 'work\n' });
    assert.equal((await follow()).pending, 0);
    fixture.git('reset', '-q', '--hard', before);
    commit('mine.txt', 'mine\n');
    fixture.git('cherry-pick', '-m', '1', landed);
    assert.equal(await sync(), shaOf('main'));
    assert.deepEqual(wrongStates(await readLine(project.store.db, 'main')), []);
  });
});
