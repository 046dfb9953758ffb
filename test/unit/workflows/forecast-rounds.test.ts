// Which works a round of forecasts compares, and which of two waits.

import assert from 'node:assert/strict';
import { Forecast } from '../../../server/workflows/run/forecast.ts';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';
import { attemptWorkRef, landingRef } from '../../../server/core/work/ref-names.ts';
import { addAttempt, addTasks, memoryStore, moveTask } from '../store/memory-store.ts';
import { tablesOf } from '../../tables.ts';

interface GivenWork {
  /** Later ones are listed later. */
  readonly base: string;
  /** Its newest snapshot; null if it has none. */
  readonly snapshot: string | null;
  readonly commit?: string;
  readonly phase: 'agent' | 'gate';
}

/** All works change `x`. Commits contain those in their names before the last letter: `ab` has `a`. */
async function blockersAfterRound(
  works: readonly [GivenWork, GivenWork],
  line: string,
  conflicts: readonly string[],
): Promise<readonly string[]> {
  const project = await memoryStore();
  const { store } = project;
  const ids = await addTasks(project, [{ title: 'first' }, { title: 'second' }]);
  const run = {
    id: 'r',
    state: 'active',
    workers: 2,
    line: 'main',
    target_branch: 'main',
  } as const;
  await tablesOf(store.db)
    .insertInto('runs')
    .values({ ...run, base_sha: 'a', land: 'task', started_at_ms: 1, flags: '{}' })
    .execute();
  const refs = new Map([[landingRef('main'), line]]);
  for (const [at, { base, snapshot, commit, phase }] of works.entries()) {
    const id = Object.values(ids)[at] ?? '';
    const commitSha = commit ?? null;
    await moveTask(project, id, ['claimed', 'in_progress'], {
      epoch: 1,
      phase,
      commit_sha: commitSha,
    });
    await addAttempt(project, id, { base_sha: base, run_id: 'r', machine: '', started_at_ms: at });
    if (snapshot !== null) refs.set(attemptWorkRef(id, 1), snapshot);
  }
  const git = {
    readRef: async (ref: string) => refs.get(ref) ?? null,
    isAncestor: async (one: string, other: string) => other.startsWith(one),
    changedPaths: async () => ({ ok: true, value: ['x'] }),
    conflicts: async (one: string, other: string) => {
      const isOne = conflicts.includes(`${one} ${other}`) || conflicts.includes(`${other} ${one}`);
      return { ok: true, value: isOne ? ['x'] : [] };
    },
    diff: async () => ({ ok: true, value: '' }),
  };
  const parts = {
    git,
    store,
    machineId: '',
    settings: () => ({ onForecast: 'order' }),
    driverFor: () => ({ capabilities: { hints: false } }),
    switchboard: { isBusy: true, stop: () => undefined, hintAdded: () => undefined },
  };
  await new Forecast(parts as unknown as Engine).round();
  const rows = await tablesOf(store.db).selectFrom('task_dependencies').selectAll().execute();
  const titleOf = (id: string): string =>
    Object.entries(ids).find(([, each]) => each === id)?.[0] ?? id;
  await project.close();
  return rows.map(({ task_id: id, blocked_by: blocker }) => `${titleOf(id)} ${titleOf(blocker)}`);
}

const running = (base: string, snapshot: string | null): GivenWork => ({
  base,
  snapshot,
  phase: 'agent',
});

suite('a round of forecasts that orders', () => {
  test('makes the later of two running works wait', async () => {
    const both = [running('a', 'ab'), running('a', 'ac')] as const;
    assert.deepEqual(await blockersAfterRound(both, 'a', ['ab ac']), ['second first']);
    assert.deepEqual(await blockersAfterRound(both, 'a', []), []);
  });

  test('makes running work wait for finished work, whichever is later', async () => {
    const finished = { ...running('a', 'ac'), phase: 'gate', commit: 'acd' } as const;
    const both = [running('a', 'ab'), finished] as const;
    assert.deepEqual(await blockersAfterRound(both, 'a', ['ab acd']), ['first second']);
  });

  test('does not compare what a task had before it was started again on newer work', async () => {
    const snapshot = [running('a', 'ab'), running('ae', 'ac')] as const;
    assert.deepEqual(await blockersAfterRound(snapshot, 'ae', ['ab ac']), []);
    const commit = [running('a', 'ab'), { ...running('ae', null), commit: 'ac' }] as const;
    assert.deepEqual(await blockersAfterRound(commit, 'ae', ['ab ac']), []);
  });

  test('leaves a conflict with landed work to the landing, also if the other starts from it', async () => {
    const both = [running('a', 'ab'), running('ae', 'aec')] as const;
    assert.deepEqual(await blockersAfterRound(both, 'ae', ['ab aec', 'ab ae']), []);
    assert.deepEqual(await blockersAfterRound(both, 'ae', ['ab aec']), ['second first']);
  });
});
