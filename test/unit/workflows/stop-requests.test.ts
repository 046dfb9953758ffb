// A request to stop is stored, told and handed to the owner where an agent works on the task; elsewhere nothing happens.

import assert from 'node:assert/strict';
import {
  cancelTask,
  pauseTask,
  requestStop,
  unpauseTask,
} from '../../../server/workflows/person/controls.ts';
import { tablesOf } from '../../tables.ts';
import { addTasks, memoryStore, moveTask } from '../store/memory-store.ts';

suite('a request to stop', () => {
  test('takes effect on a task that is worked on, and on no other', async () => {
    const project = await memoryStore();
    const { store, sources } = project;
    const { A = '', B = '' } = await addTasks(project, [{ title: 'A' }, { title: 'B' }]);
    await moveTask(project, A, ['claimed', 'in_progress'], { phase: 'agent' });
    const told: string[] = [];
    const stopped: [string, number][] = [];
    const engine = {
      store: {
        ...store,
        append: async (tx: unknown, event: { type: string; taskId: string }) => {
          assert.ok(tx);
          told.push(`${event.type} ${event.taskId}`);
        },
      },
      clock: sources.clock,
      switchboard: { stop: (id: string, epoch: number) => void stopped.push([id, epoch]) },
    } as unknown as Parameters<typeof requestStop>[0];
    await requestStop(engine, B, 'pause', null);
    assert.deepEqual([told, stopped], [[], []]);
    await requestStop(engine, A, 'pause', 'a reason');
    assert.deepEqual(told, [`task.stopping ${A}`]);
    const rows = await tablesOf(store.db)
      .selectFrom('tasks')
      .select(['id', 'epoch', 'stop_requested', 'stop_reason'])
      .orderBy('title')
      .execute();
    assert.deepEqual(stopped, [[A, rows[0]?.epoch]]);
    assert.deepEqual(
      rows.map(({ stop_requested: kind, stop_reason: reason }) => [kind, reason]),
      [
        ['pause', 'a reason'],
        [null, null],
      ],
    );
    await project.close();
  });

  test('of a person says that it was one, also where no agent works on the task', async () => {
    const project = await memoryStore();
    const { store, sources } = project;
    const { A = '' } = await addTasks(project, [{ title: 'A' }]);
    const engine = { store, clock: sources.clock, switchboard: { stop: () => undefined } } as never;
    await pauseTask(engine, A);
    await unpauseTask(engine, A, null);
    await cancelTask(engine, A, 'not needed');
    const events = await tablesOf(store.db)
      .selectFrom('events')
      .select(['type', 'data'])
      .where('type', 'in', ['task.paused', 'task.resumed', 'task.cancelled'])
      .orderBy('seq')
      .execute();
    assert.deepEqual(
      events.map(({ type, data }) => [type, (JSON.parse(data) as { by?: string }).by]),
      [
        ['task.paused', 'person'],
        ['task.resumed', 'person'],
        ['task.cancelled', 'person'],
      ],
    );
    await project.close();
  });
});
