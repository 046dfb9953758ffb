// A line and its branch that diverge: people rewind the branch while work is about to land, or the
// process dies between the two. All landed work arrives, without commits that people took out, and
// nothing that was on the line is lost.

import assert from 'node:assert/strict';
import type { Sha } from '../../../server/git/sha.ts';
import { keepGateVerdict, landOnLine, readLine } from '../../../server/store/port.ts';
import { followLine } from '../../../server/workflows/line/follow.ts';
import { mergeTargetForLanding, syncLine } from '../../../server/workflows/line/line.ts';
import { moveLine } from '../../../server/workflows/line/move.ts';
import { branchRef, landingRef, rescueRef } from '../../../server/core/work/ref-names.ts';
import { LineTending } from '../../../server/workflows/run/tending.ts';
import { callsAtOnce } from '../../doubles/port-calls.ts';
import { SimulatedClock } from '../../doubles/simulated-clock.ts';
import { SimulatedGit } from '../../doubles/simulated-git.ts';
import { SimulatedRepository } from '../../doubles/simulated-repository.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { memoryStore, type TestStore } from '../store/memory-store.ts';
import { tablesOf } from '../../tables.ts';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';

const line = landingRef('main');
const branch = branchRef('main');

suite('a line that its branch does not contain', () => {
  let project: TestStore;
  let repository: SimulatedRepository;
  let engine: Engine;

  setup(async () => {
    project = await memoryStore();
    repository = new SimulatedRepository('/project', new SimulatedClock());
    engine = {
      machineId: '',
      lands: () => true,
      knowsDead: () => true,
      store: project.store,
      git: new SimulatedGit(repository, callsAtOnce, () => null),
      settings: () => ({ follow: 'fast-forward' }),
      report: (error: unknown) => assert.fail(String(error)),
    } as unknown as Engine;
  });
  teardown(() => project.close());

  const files = (...names: string[]): Map<string, string> =>
    new Map(['README', ...names].map((name) => [name, `${name}\n`]));

  function moveMain(next: Sha): void {
    const old = repository.refs.get(branch) ?? null;
    repository.moveRefs([{ ref: branch, next, old }], 'person', 'by hand');
    repository.checkout.files = new Map(repository.objects.filesOf(next));
  }

  /** The person's commit is on the line, and t1 lands on it although the person has gone back meanwhile. */
  async function landOnRewound(): Promise<{ first: Sha; secret: Sha; landed: Sha }> {
    const first = repository.refs.get(branch) as Sha;
    const secret = repository.commit(files('secret'), [first], 'secret', 'person');
    moveMain(secret);
    assert.deepEqual(await syncLine(engine, 'main'), { ok: true, value: secret });
    const work = repository.commit(files('secret', 't1'), [secret], 't1', 'agent');
    const merged = await engine.git.merge({
      tip: secret,
      commit: work,
      subject: 'drover: t1',
      trailers: ['Drover-Task: t1', 'Drover-Attempt: 1'],
    });
    assert.ok(merged.ok && merged.value.kind === 'merged');
    const landed = merged.value.commit;
    moveMain(first);
    const landing = { next: landed, old: secret, reason: 'drover: land t1' };
    assert.ok((await moveLine(engine, 'main', landing)).ok);
    await project.store.transaction((tx) => landOnLine(tx, 'main', landed));
    return { first, secret, landed };
  }

  test('landed work waits and is reported if the branch is rewound at that time', async () => {
    const { first } = await landOnRewound();
    const followed = await followLine(engine, 'main');
    assert.equal(followed.pending, 1);
    assert.match(followed.reason ?? '', /^main was rewritten/);
    const row = await readLine(project.store.db, 'main');
    assert.equal(row?.pending, 1, 'whoever looks after what waits finds it');
    assert.equal(repository.refs.get(branch), first);
    const shown = repository.refs.get(branchRef('drover/results/main')) as Sha;
    assert.deepEqual([...repository.objects.filesOf(shown).keys()].sort(), ['README', 't1']);
  });

  test('a tip that the line no longer contains is kept', async () => {
    const { first, secret, landed } = await landOnRewound();
    await followLine(engine, 'main');
    const found = await mergeTargetForLanding(engine, 'main');
    assert.ok(found.ok);
    const { head, includes } = found.value;
    const taking = { next: head, old: landed, reason: 'drover: take in main', includes };
    assert.ok((await moveLine(engine, 'main', taking)).ok);
    assert.equal(repository.refs.get(rescueRef('main', landed)), landed);
    assert.equal((await followLine(engine, 'main')).pending, 0);
    const arrived = repository.refs.get(branch) as Sha;
    assert.deepEqual([...repository.objects.filesOf(arrived).keys()].sort(), ['README', 't1']);
    assert.ok(repository.objects.isAncestor(first, arrived));
    assert.equal(repository.objects.isAncestor(secret, arrived), false);
  });

  test('a line that moved just before a crash is followed up', async () => {
    const first = repository.refs.get(branch) as Sha;
    assert.ok((await syncLine(engine, 'main')).ok);
    const next = repository.commit(files('next'), [first], 'next', 'drover');
    engine.git.updateRef = () => {
      repository.moveRefs([{ ref: line, next, old: first }], 'drover', 'drover: take in');
      return Promise.reject(new Error('dead'));
    };
    const move = { next, old: first, reason: 'drover: take in', isAlone: true };
    await assert.rejects(moveLine(engine, 'main', move), /dead/);
    assert.deepEqual(await followLine(engine, 'main'), { pending: 0, reason: null });
    assert.equal(repository.refs.get(branch), next);
  });

  /** A commit of the line, moved there by a process that dies before the branch has followed. */
  async function moveAlone(path: string, isWritten: boolean): Promise<Sha> {
    const old = repository.refs.get(line) as Sha;
    const next = repository.commit(files(path), [old], path, 'drover');
    const move = { next, old, reason: 'drover: take in', isAlone: isWritten };
    assert.ok((await moveLine(engine, 'main', move)).ok);
    return next;
  }

  for (const isWritten of [true, false]) {
    const when = isWritten ? 'after' : 'before';
    test(`a line that another process moves while the branch follows, and that dies ${when} it has written so`, async () => {
      assert.ok((await syncLine(engine, 'main')).ok);
      const first = await moveAlone('first', true);
      const { git } = engine;
      const follow = git.follow.bind(git);
      let next: Sha | null = null;
      git.follow = async (...args) => {
        next ??= await moveAlone('next', isWritten);
        return follow(...args);
      };
      await followLine(engine, 'main');
      const row = await readLine(project.store.db, 'main');
      if (isWritten) {
        assert.deepEqual([row?.landed_sha, row?.pending], [next, 0]);
        assert.equal(repository.refs.get(branch), next);
        return;
      }
      assert.equal(repository.refs.get(branch), first);
      const following = new LineTending(looking(engine, 1)).begin();
      await eventually('the branch is there', () => repository.refs.get(branch) === next);
      following.end();
    });
  }

  test('landed work on another history than its branch names the merge that git accepts', async () => {
    const first = repository.refs.get(branch) as Sha;
    assert.ok((await syncLine(engine, 'main')).ok);
    const landed = repository.commit(files('landed'), [first], 'landed', 'agent');
    const landing = { next: landed, old: first, reason: 'drover: land t1' };
    assert.ok((await moveLine(engine, 'main', landing)).ok);
    // Nothing was followed yet: no commit of the branch is known that people could have taken out.
    await project.store.transaction(async (tx) => {
      await landOnLine(tx, 'main', landed);
      await tablesOf(tx).updateTable('lines').set({ followed_sha: null }).execute();
    });
    moveMain(repository.commit(files('theirs'), [], 'another first one', 'person'));
    const { git } = engine;
    const error = { kind: 'failed', retryable: false, message: 'unrelated' } as const;
    git.merge = () => Promise.resolve({ ok: false, error });
    const looks = looking(engine, 3);
    const following = new LineTending(looks).begin();
    await eventually('it was looked', () => looks.clock.now() === 3);
    following.end();
    assert.equal(
      (await readLine(project.store.db, 'main'))?.pending_reason,
      'the landed work that waits for main is on another history; merge drover/results/main into main by hand (git merge --allow-unrelated-histories drover/results/main: they share no commit), then run again',
    );
  });

  for (const isRed of [true, false]) {
    const why = isRed ? 'are red together' : 'conflict';
    test(`commits of people that ${why} with waiting work are merged once, however often the line is checked`, async () => {
      const first = repository.refs.get(branch) as Sha;
      assert.ok((await syncLine(engine, 'main')).ok);
      const other = isRed ? 'theirs' : 'README';
      const commit = (path: string, text: string): Sha =>
        repository.commit(
          new Map(repository.objects.filesOf(first)).set(path, text),
          [first],
          text,
          'person',
        );
      const landed = commit('README', 'landed');
      const landing = { next: landed, old: first, reason: 'drover: land t1' };
      assert.ok((await moveLine(engine, 'main', landing)).ok);
      await project.store.transaction((tx) => landOnLine(tx, 'main', landed));
      moveMain(commit(other, 'theirs'));
      assert.equal((await followLine(engine, 'main')).pending, 1);
      const { git } = engine;
      let merges = 0;
      const merge = git.merge.bind(git);
      git.merge = async (request) => {
        merges += 1;
        const merged = await merge(request);
        if (merged.ok && merged.value.kind === 'merged') {
          const [tree_sha, command] = [merged.value.tree, 'check'];
          const red = {
            ok: 0,
            exit_code: 1,
            duration_ms: 1,
            output_tail: 'red',
            flaky: 0,
            at_ms: 1,
          };
          await project.store.transaction((tx) =>
            keepGateVerdict(tx, { tree_sha, command, ...red }),
          );
        }
        return merged;
      };
      const looks = looking(engine, 4);
      const following = new LineTending(looks).begin();
      await eventually('it was looked often', () => looks.clock.now() === 4);
      following.end();
      const row = await readLine(project.store.db, 'main');
      assert.match(
        row?.pending_reason ?? '',
        isRed ? /^The gate failed on the merged code: red/ : /README/,
      );
      assert.equal(merges, 1);
    });
  }
});

/**
 * The engine of a backend that has just started, with this many checks of the landings; its clock
 * counts those that are over.
 */
function looking(engine: Engine, looksMax: number): Engine {
  let looks = -1;
  return {
    ...engine,
    mask: (text: string) => text,
    settings: () => ({ ...engine.settings(), gateCommand: 'check', gateTimeoutMs: 1 }),
    clock: {
      now: () => looks,
      timer: (_ms: number, body: () => void) => {
        looks += 1;
        if (looks < looksMax) setImmediate(body);
        return () => {};
      },
    },
    switchboard: { whileWorking: (body: () => Promise<void>) => body() },
  } as unknown as Engine;
}
