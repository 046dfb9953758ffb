// A request to stop is stored, reported and passed to the owner if an agent works on the task;
// otherwise nothing happens.

import assert from 'node:assert/strict';
import {
  cancelTask,
  pauseTask,
  requestStop,
  unpauseTask,
} from '../../../server/workflows/person/controls.ts';
import { claimTask } from '../../../server/store/work/claims.ts';
import { setAttempt } from '../../../server/store/port.ts';
import { finishedAs } from '../../../server/workflows/attempt/refused-work.ts';
import { settleStopInTransaction } from '../../../server/workflows/attempt/stops.ts';
import { tablesOf } from '../../tables.ts';
import { addTasks, memoryStore, moveTask } from '../store/memory-store.ts';

suite('a request to stop', () => {
  test('it takes effect only on a task that an agent is working on', async () => {
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

  for (const kind of ['pause', 'cancel', 'stop'] as const) {
    test(`a ${kind} for work that only needs to be committed starts no agent again`, async () => {
      const project = await memoryStore();
      const { store, sources } = project;
      const { A: taskId = '' } = await addTasks(project, [{ title: 'A' }]);
      const claim = await store.transaction((tx) =>
        claimTask(tx, sources, {
          taskId,
          runId: 'run',
          owner: 'o',
          machine: '',
          sessionId: 's',
          agent: 'command',
          model: null,
          step: 0,
          agentResumes: true,
          plansFirst: false,
        }),
      );
      assert.ok(claim !== null);
      const engine = { store, clock: sources.clock, switchboard: { stop: () => undefined } };
      const asked = engine as unknown as Parameters<typeof requestStop>[0];
      await store.transaction((tx) =>
        setAttempt(tx, taskId, claim.attempt, { failure_kind: 'commit_failed', pid_part: taskId }),
      );
      await requestStop(asked, taskId, kind, null);
      await store.transaction((tx) => settleStopInTransaction(engine as never, tx, claim));
      assert.equal(await finishedAs(store.db, taskId), 'uncommitted');
      await project.close();
    });
  }

  test("a person's request is attributed to that person, even if no agent works on the task", async () => {
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
