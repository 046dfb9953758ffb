// Which machine of a fleet gets a task's next attempt.

import assert from 'node:assert/strict';
import type { Insertable } from 'kysely';
import type { AttemptTable } from '../../../server/store/schema/tables.ts';
import { openPlacement, type Placement } from '../../../server/workflows/kit/placement.ts';
import {
  addAttempt,
  addTasks,
  memoryStore,
  moveTask,
  type TestStore,
} from '../store/memory-store.ts';
import { markRemoteUnreachable } from '../../../server/store/port.ts';
import { tablesOf } from '../../tables.ts';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';

suite('placement', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  async function machine(
    id: string,
    room: number,
    labels: readonly string[] = [],
    state = 'working',
    aliveForMs = 60_000,
  ): Promise<void> {
    await tablesOf(project.store.db)
      .insertInto('machines')
      .values({
        id,
        name: `name of ${id}`,
        labels: JSON.stringify(labels),
        state,
        agents_max: room,
        room,
        version: '1',
        joined_at_ms: 1,
        alive_until_ms: Date.now() + aliveForMs,
      })
      .execute();
  }

  async function attempt(id: string, more: Partial<Insertable<AttemptTable>>): Promise<void> {
    await addAttempt(project, id, { state: 'failed', ...more });
  }

  const open = (machineId = 'a'): Promise<Placement> =>
    openPlacement(
      {
        machineId,
        compatibility: { number: 1, leads: () => true },
        settings: () => ({ gateNeeds: ['big'] }),
      } as unknown as Engine,
      project.store.db,
    );

  interface Request {
    readonly id: string;
    readonly labels: string;
    readonly candidate_of: string | null;
  }

  const task = (id: string, ...labels: string[]): Request => ({
    id,
    labels: JSON.stringify(labels),
    candidate_of: null,
  });

  test('a single machine takes everything, labels or not', async () => {
    const places = await open('');
    assert.equal(places.room, null);
    assert.equal(await places.choose(task('t', 'needs:gpu')), '');
    assert.equal(places.nameOf(''), null);
  });

  test('the live and suitable machine with the most free slots gets the task, until it is full', async () => {
    await machine('a', 1);
    await machine('b', 2, ['gpu']);
    await machine('dead', 9, ['gpu'], 'working', -1);
    await machine('draining', 9, ['gpu'], 'draining');
    await machine('left', 9, ['gpu'], 'left');
    const { A = '' } = await addTasks(project, [{ title: 'A' }]);
    await moveTask(project, A, ['claimed', 'in_progress'], { epoch: 1, phase: 'agent' });
    await attempt(A, { state: 'running', machine: 'b' });
    const places = await open();
    assert.equal(places.room, 3);
    const chosen: (string | null)[] = [];
    for (const request of [task('1'), task('2', 'needs:gpu'), task('3', 'needs:gpu'), task('4')]) {
      const id = await places.choose(request);
      chosen.push(id);
      if (id !== null) places.taken(id);
    }
    assert.deepEqual(chosen, ['a', 'b', null, null]);
    assert.equal(places.nameOf('b'), 'name of b');
  });

  test('a candidate goes to a machine that may run its gate', async () => {
    await machine('a', 9, ['gpu']);
    await machine('b', 1, ['gpu', 'big']);
    const places = await open();
    assert.equal(await places.choose(task('1')), 'a');
    const candidate = { ...task('2', 'needs:gpu'), candidate_of: '1' };
    assert.equal(await places.choose(candidate), 'b');
    places.taken('b');
    assert.equal(await places.choose(candidate), null);
  });

  test('nothing goes to a machine that cannot use the agent, or that takes no agents', async () => {
    await machine('a', 9);
    await machine('b', 1);
    await machine('none', 0);
    const places = await open();
    assert.deepEqual(places.machinesFor(task('1')), ['a', 'b']);
    assert.equal(await places.choose(task('1'), new Set(['a'])), 'b');
    assert.equal(await places.choose(task('1'), new Set(['a', 'b'])), null);
  });

  test('nothing goes to a machine of another release, which could not start it', async () => {
    await machine('a', 1);
    await machine('b', 9);
    await tablesOf(project.store.db)
      .updateTable('machines')
      .set({ compatibility: 2 })
      .where('id', '=', 'b')
      .execute();
    const places = await open();
    assert.equal(places.room, 1);
    assert.equal(await places.choose(task('1')), 'a');
    places.taken('a');
    assert.equal(await places.choose(task('2')), null);
  });

  test('a machine that cannot reach the git remote gets nothing, even before its capacity shrinks', async () => {
    await machine('a', 1);
    await machine('b', 5);
    await project.store.transaction((tx) => markRemoteUnreachable(tx, 'b'));
    const places = await open();
    assert.equal(await places.choose(task('1')), 'a');
    places.taken('a');
    assert.equal(await places.choose(task('2')), null);
  });

  test('an attempt continues on its machine, and waits for it, but a new one goes to a suitable machine', async () => {
    await machine('a', 5, ['gpu']);
    await machine('b', 1);
    const titles = ['going', 'unbegun', 'new', 'moved', 'committed', 'refused', 'lost'];
    const ids = await addTasks(
      project,
      titles.map((title) => ({ title })),
    );
    const idOf = (title: string): string => ids[title] ?? '';
    await attempt(idOf('going'), { state: 'interrupted', machine: 'b', base_sha: 'c' });
    await attempt(idOf('unbegun'), { state: 'interrupted', machine: 'b' });
    await attempt(idOf('new'), { state: 'failed', machine: 'b' });
    await attempt(idOf('moved'), { state: 'failed', machine: 'b' });
    await attempt(idOf('committed'), { state: 'interrupted', machine: 'b', commit_sha: 'c' });
    await attempt(idOf('refused'), {
      state: 'interrupted',
      machine: 'b',
      commit_sha: 'c',
      failure_kind: 'push_refused',
    });
    await attempt(idOf('lost'), { state: 'interrupted', machine: 'gone' });
    const places = await open();
    const choose = (title: string, ...labels: string[]): Promise<string | null> =>
      places.choose(task(idOf(title), ...labels));
    assert.equal(await choose('going'), 'b');
    assert.equal(await choose('new'), 'b', 'its conversation and its caches are there');
    assert.equal(await choose('moved', 'needs:gpu'), 'a', 'a person has asked for another one');
    assert.equal(await choose('lost'), 'a');
    places.taken('b');
    assert.equal(await choose('going'), null, 'it waits for its turn');
    assert.equal(await choose('unbegun'), 'a', 'it has no worktree there yet');
    assert.equal(await choose('new'), 'a');
    assert.equal(await choose('committed'), 'a', 'committed work can land from anywhere');
    assert.equal(await choose('refused'), null, 'only its machine has what was not pushed');
  });

  test('an attempt leaves a machine that has lost a label that it needs', async () => {
    await machine('a', 1, ['gpu']);
    await machine('b', 5);
    const ids = await addTasks(project, [{ title: 'cut off' }, { title: 'refused' }]);
    const idOf = (title: string): string => ids[title] ?? '';
    const left = { state: 'interrupted' as const, machine: 'b' };
    await attempt(idOf('cut off'), left);
    const refused = { commit_sha: 'c', failure_kind: 'push_refused' };
    await attempt(idOf('refused'), { ...left, ...refused });
    const places = await open();
    const choose = (title: string): Promise<string | null> =>
      places.choose(task(idOf(title), 'needs:gpu'));
    assert.equal(await choose('cut off'), 'a', 'its last snapshot is there too');
    places.taken('a');
    assert.equal(await choose('cut off'), null, 'it waits for a machine with the label');
    assert.equal(await choose('refused'), 'b', 'a push needs no label');
  });
});
