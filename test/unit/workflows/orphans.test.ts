// Work that was started by a release which no machine has any more is released, and restarted by
// the existing machines.

import assert from 'node:assert/strict';
import type { WorkflowInfo } from '../../../server/durable/port.ts';
import { returnOrphans } from '../../../server/workflows/run/orphans.ts';
import {
  addAttempt,
  addTasks,
  memoryStore,
  moveTask,
  type TestStore,
} from '../store/memory-store.ts';
import { tablesOf } from '../../tables.ts';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';

suite('work of another release', () => {
  let project: TestStore;
  let id: string;
  setup(async () => {
    project = await memoryStore();
    id = (await addTasks(project, [{ title: 'A' }]))['A'] ?? '';
    await moveTask(project, id, ['claimed', 'in_progress'], { epoch: 1, phase: 'agent' });
  });
  teardown(() => project.close());

  async function machine(name: string, compatibility: number, lands = 1): Promise<void> {
    const row = { id: name, name, compatibility, lands, state: 'working', version: '1' };
    const more = { agents_max: 1, room: 1, joined_at_ms: 1, alive_until_ms: Date.now() + 60_000 };
    await tablesOf(project.store.db)
      .insertInto('machines')
      .values({ ...row, ...more })
      .execute();
  }

  /** Checked by a machine of release 2; resolves with the canceled workflows. */
  async function looked(
    queue: string,
    state: 'pending' | 'running',
    number: number | null,
    knowsDead = true,
  ): Promise<readonly string[]> {
    const cancelled: string[] = [];
    const info = { queue, state, compatibility: number } as WorkflowInfo;
    const engine = {
      machineId: 'new',
      knowsDead: () => knowsDead,
      compatibility: { number: 2, leads: () => true },
      store: project.store,
      durable: {
        get: async () => info,
        cancel: async (workflow: string) => void cancelled.push(workflow),
      },
    } as unknown as Engine;
    await returnOrphans(engine);
    return cancelled;
  }

  /** Looked at when its workflow has failed with the words. */
  async function lookedAtFailed(error: string): Promise<unknown> {
    await addAttempt(project, id, { agent: 'command', branch: 'drover/a/1' });
    const engine = {
      machineId: '',
      knowsDead: () => true,
      chance: () => 0,
      clock: project.sources.clock,
      mask: (text: string) => text,
      store: project.store,
      durable: { get: async () => ({ state: 'failed', error }) },
    } as unknown as Engine;
    assert.deepEqual(await returnOrphans(engine), [id]);
    return tablesOf(project.store.db)
      .selectFrom('tasks')
      .innerJoin('attempts', 'attempts.task_id', 'tasks.id')
      .select(['tasks.status', 'tasks.attempts', 'attempts.state'])
      .executeTakeFirstOrThrow();
  }

  /** Why it was released last, as History shows it. */
  async function reason(): Promise<unknown> {
    const { data } = await tablesOf(project.store.db)
      .selectFrom('events')
      .select('data')
      .where('type', '=', 'task.returned')
      .orderBy('seq', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow();
    return (JSON.parse(data) as { reason: unknown }).reason;
  }

  const exec = (): readonly string[] => [`exec/${id}/1`];

  test('it is left alone while a machine has that release, and is released afterwards', async () => {
    await machine('new', 2);
    await machine('old', 1);
    assert.deepEqual(await looked('agents@old', 'running', 1), []);
    assert.deepEqual(await looked('land:main', 'pending', 1), []);
    assert.deepEqual(await looked('land:main', 'pending', 2), []);
    await tablesOf(project.store.db)
      .updateTable('machines')
      .set({ lands: 0 })
      .where('id', '=', 'old')
      .execute();
    assert.deepEqual(await looked('land:main', 'running', 1), [], 'its process ends it');
    assert.deepEqual(await looked('land:main', 'pending', 1), exec(), 'nobody of it lands');
  });

  test('it is released by a machine that was upgraded without draining', async () => {
    await machine('new', 2);
    assert.deepEqual(await looked('agents@new', 'pending', 2), []);
    assert.deepEqual(await looked('agents@new', 'pending', 1), exec());
    assert.equal(await reason(), 'its machine new now runs another version of Drover');
  });

  test('it names the machine that stopped', async () => {
    await machine('new', 2);
    await machine('atlas', 2);
    await tablesOf(project.store.db)
      .updateTable('machines')
      .set({ alive_until_ms: 1 })
      .where('id', '=', 'atlas')
      .execute();
    // After an absence of the database it may be about to return.
    assert.deepEqual(await looked('agents@atlas', 'pending', 2, false), []);
    assert.deepEqual(await looked('agents@atlas', 'pending', 2), exec());
    assert.equal(await reason(), 'its machine atlas stopped');
  });

  test('it has used no attempt when a full disk ended its workflow', async () => {
    assert.deepEqual(await lookedAtFailed('ENOSPC: no space left on device, write'), {
      status: 'ready',
      attempts: 0,
      state: 'interrupted',
    });
  });

  test('it has used an attempt when a bug ended its workflow', async () => {
    assert.deepEqual(await lookedAtFailed('attempt of A is missing'), {
      status: 'ready',
      attempts: 1,
      state: 'failed',
    });
  });
});
