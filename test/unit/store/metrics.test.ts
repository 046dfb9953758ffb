// Metrics of current waits: tasks, questions, landings and machines.

import assert from 'node:assert/strict';
import { readMetrics } from '../../../server/store/history/read-history.ts';
import { otherExporter } from '../../../server/store/history/metrics-board.ts';
import { addTasks, memoryStore, moveTask, type TestStore } from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

suite('metrics of the store', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  async function lines(machineId = ''): Promise<readonly string[]> {
    const nowMs = project.sources.nowMs;
    const text = await readMetrics(project.store.db, nowMs, { project: 'shop', machineId });
    return text.split('\n');
  }

  async function machine(id: string, more: object = {}): Promise<void> {
    await tablesOf(project.store.db)
      .insertInto('machines')
      .values({
        id,
        name: id,
        state: 'working',
        agents_max: 2,
        room: 2,
        version: '1.2.3',
        joined_at_ms: Date.now() - 60_000,
        alive_until_ms: Date.now() + 60_000,
        ...more,
      })
      .execute();
  }

  test('a failed task and the task that waits for it are counted', async () => {
    const { A = '' } = await addTasks(project, [{ title: 'A' }, { title: 'B', blocked_by: ['A'] }]);
    await moveTask(project, A, ['claimed', 'in_progress', 'failed']);
    const found = await lines();
    for (const line of [
      'drover_tasks_waiting{project="shop",state="failed"} 1',
      'drover_tasks_waiting{project="shop",state="blocked"} 1',
      'drover_tasks_waiting{project="shop",state="conflict"} 0',
      'drover_tasks_stuck{project="shop"} 1',
      'drover_questions_open{project="shop"} 0',
      'drover_landing_oldest_seconds{project="shop"} 0',
    ]) {
      assert.ok(found.includes(line), `${line}\n${found.join('\n')}`);
    }
    assert.ok(!found.some((line) => line.startsWith('drover_machines_alive{')));
  });

  test('the oldest waiting landing has an age, and a finished landing has none', async () => {
    const nowMs = project.sources.nowMs;
    const rows = [
      { task_id: 'a', state: 'landed', queued_at_ms: nowMs - 900_000 },
      { task_id: 'b', state: 'taken', queued_at_ms: nowMs - 90_000 },
      { task_id: 'c', state: 'queued', queued_at_ms: nowMs - 30_000 },
    ] as const;
    for (const row of rows) {
      await tablesOf(project.store.db)
        .insertInto('landings')
        .values({
          epoch: 1,
          attempt: 1,
          line: 'main',
          commit_sha: 'f',
          gate_command: null,
          workflow_id: 'w',
          ...row,
        })
        .execute();
    }
    const found = await lines();
    assert.ok(found.includes('drover_landings_waiting{project="shop"} 2'));
    assert.ok(found.includes('drover_landing_oldest_seconds{project="shop"} 90'));
  });

  test("a fleet's machines are counted: alive, dead for less than a day, and without the remote", async () => {
    await machine('m1');
    await machine('m2', { remote_away_since_ms: Date.now() - 5_000 });
    await machine('m3', { alive_until_ms: Date.now() - 5_000 });
    await machine('m4', { alive_until_ms: Date.now() - 48 * 3_600_000 });
    await machine('m5', { state: 'left', alive_until_ms: Date.now() - 5_000 });
    const found = await lines('m1');
    for (const line of [
      'drover_machines_alive{project="shop"} 2',
      'drover_machines_dead{project="shop"} 1',
      'drover_remote_away{project="shop",machine="m1"} 0',
      'drover_remote_away{project="shop",machine="m2"} 1',
    ]) {
      assert.ok(found.includes(line), `${line}\n${found.join('\n')}`);
    }
  });

  test('one machine exports the totals, and all do while none is alive', async () => {
    assert.equal(await otherExporter(project.store.db, 'm1'), null);
    await machine('m1');
    await machine('m2');
    assert.equal(await otherExporter(project.store.db, 'm1'), null);
    assert.equal(await otherExporter(project.store.db, 'm2'), 'm1');
    assert.equal(await otherExporter(project.store.db, ''), null);
    await tablesOf(project.store.db)
      .updateTable('machines')
      .set({ alive_until_ms: Date.now() - 5_000 })
      .where('id', '=', 'm1')
      .execute();
    assert.equal(await otherExporter(project.store.db, 'm2'), null);
  });
});
