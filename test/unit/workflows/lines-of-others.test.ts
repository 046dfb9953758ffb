// A line that another machine of the fleet moves: this one's view of the remote is a moment old,
// the database's is not.

import { branchRef, landingRef } from '../../../server/core/work/ref-names.ts';
import assert from 'node:assert/strict';
import type { GitRepository } from '../../../server/git/port.ts';
import { followLine } from '../../../server/workflows/line/follow.ts';
import { syncLine } from '../../../server/workflows/line/line.ts';
import { baseContaining } from '../../../server/workflows/line/open-line.ts';
import { memoryStore, type TestStore } from '../store/memory-store.ts';
import { tablesOf } from '../../tables.ts';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';

/** Commits in one row: each is a descendant of those with smaller letters. */
type Refs = Readonly<Record<string, string>>;

const line = landingRef('main');
const branch = branchRef('main');
const rescued = (commit: string): string => `refs/drover/rescue/lines/main/${commit}`;

/** A remote whose answers are reused until a caller needs the current state. */
class RememberedRemote {
  readonly now: Map<string, string>;
  #heard: Map<string, string>;

  constructor(heard: Refs, now: Refs) {
    this.#heard = new Map(Object.entries(heard));
    this.now = new Map(Object.entries(now));
  }

  readonly git = {
    readRef: async (ref: string, asOf?: 'now') => {
      if (asOf === 'now') this.#heard = new Map(this.now);
      return this.#heard.get(ref) ?? null;
    },
    isAncestor: async (ancestor: string, descendant: string) => ancestor <= descendant,
    treeOf: async (commit: string) => ({ ok: true, value: commit }),
    lineCommits: async (from: string, to: string) => ({
      ok: true,
      value: 'abcdef'
        .split('')
        .filter((sha) => sha > from && sha <= to)
        .map((sha) => ({ sha, parents: [], subject: `drover: ${sha}`, trailers: [] })),
    }),
    updateRef: async (ref: string, next: string, old: string | null) => {
      if ((this.now.get(ref) ?? null) !== old) return { ok: false, error: { kind: 'stale' } };
      this.now.set(ref, next);
      this.#heard.set(ref, next);
      return { ok: true, value: undefined };
    },
    follow: async (ref: string, tip: string) => {
      await this.meanwhile();
      if ((this.now.get(ref) ?? '') < tip) this.now.set(ref, tip);
      return { ok: true, value: { kind: 'followed', sha: this.now.get(ref) } };
    },
  } as unknown as GitRepository;

  /** The actions of others while the branch is moved. */
  meanwhile: () => Promise<void> = async () => {};
}

suite('a line that others move', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  async function engineOf(
    remote: RememberedRemote,
    stored: { readonly landed: string; readonly followed: string },
  ): Promise<Engine> {
    await tablesOf(project.store.db)
      .insertInto('lines')
      .values({ branch: 'main', landed_sha: stored.landed, followed_sha: stored.followed })
      .execute();
    // Whichever machine lands first records its next values.
    const tips = ['a', 'b', 'c', 'd', 'e', 'f'].map((sha) => ({ branch: 'main', sha, at_ms: 0 }));
    await tablesOf(project.store.db).insertInto('line_tips').values(tips).execute();
    const settings = () => ({ follow: 'auto' });
    return {
      machineId: 'm1',
      store: project.store,
      git: remote.git,
      settings,
    } as unknown as Engine;
  }

  const write = async (landed: string): Promise<void> => {
    const row = { landed_sha: landed };
    await tablesOf(project.store.db).updateTable('lines').set(row).execute();
  };

  const storedLine = () =>
    tablesOf(project.store.db)
      .selectFrom('lines')
      .select(['landed_sha', 'followed_sha'])
      .executeTakeFirst();

  test('a branch that has just followed there is not considered rewound here', async () => {
    // It knows of the landing, but not of the branch that followed; the database contains both.
    const remote = new RememberedRemote(
      { [line]: 'b', [branch]: 'a' },
      { [line]: 'b', [branch]: 'b' },
    );
    const engine = await engineOf(remote, { landed: 'b', followed: 'b' });
    assert.deepEqual(await syncLine(engine, 'main'), { ok: true, value: 'b' });
    assert.deepEqual(Object.fromEntries(remote.now), { [line]: 'b', [branch]: 'b' });
  });

  test('a branch that people have rewound is accepted, and landed work is kept', async () => {
    const refs = { [line]: 'b', [branch]: 'a' };
    const remote = new RememberedRemote(refs, refs);
    const engine = await engineOf(remote, { landed: 'b', followed: 'b' });
    assert.deepEqual(await syncLine(engine, 'main'), { ok: true, value: 'a' });
    assert.deepEqual(Object.fromEntries(remote.now), { ...refs, [line]: 'a', [rescued('b')]: 'b' });
  });

  test("this machine's older view does not overwrite another machine's newer record", async () => {
    const remote = new RememberedRemote(
      { [line]: 'a', [branch]: 'a' },
      { [line]: 'b', [branch]: 'b' },
    );
    const engine = await engineOf(remote, { landed: 'b', followed: 'b' });
    assert.deepEqual(await syncLine(engine, 'main'), { ok: true, value: 'b' });
    assert.deepEqual(await storedLine(), { landed_sha: 'b', followed_sha: 'b' });
  });

  test('landings there are not overwritten while the branch follows here', async () => {
    const refs = { [line]: 'b', [branch]: 'a' };
    const remote = new RememberedRemote(refs, refs);
    const engine = await engineOf(remote, { landed: 'a', followed: 'a' });
    remote.meanwhile = async () => {
      remote.meanwhile = async () => {};
      remote.now.set(line, 'c');
      await write('c');
    };
    await followLine(engine, 'main');
    assert.deepEqual(await storedLine(), { landed_sha: 'c', followed_sha: 'c' });
    assert.equal(remote.now.get(branch), 'c');
  });

  test('landings there are followed, even if this machine has not been notified', async () => {
    const remote = new RememberedRemote(
      { [line]: 'a', [branch]: 'a' },
      { [line]: 'b', [branch]: 'a' },
    );
    const engine = await engineOf(remote, { landed: 'b', followed: 'a' });
    await followLine(engine, 'main');
    assert.deepEqual(await storedLine(), { landed_sha: 'b', followed_sha: 'b' });
    assert.equal(remote.now.get(branch), 'b');
  });

  test('a blocker that has just landed there is in the base here', async () => {
    const remote = new RememberedRemote(
      { [line]: 'a', [branch]: 'a' },
      { [line]: 'b', [branch]: 'b' },
    );
    const engine = await engineOf(remote, { landed: 'b', followed: 'b' });
    assert.deepEqual(await baseContaining(engine, 'main', ['b']), { ok: true, value: 'b' });
  });

  test('a task whose blocker is nowhere on the line has no base', async () => {
    const refs = { [line]: 'a', [branch]: 'a' };
    const engine = await engineOf(new RememberedRemote(refs, refs), { landed: 'a', followed: 'a' });
    assert.deepEqual(await baseContaining(engine, 'main', ['b']), { ok: true, value: null });
  });
});
