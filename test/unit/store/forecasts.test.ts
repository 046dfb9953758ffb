// Forecasts in a fleet: each machine compares its own work and leaves the other machines' forecasts
// alone.

import assert from 'node:assert/strict';
import { readForecasts, recordForecast } from '../../../server/store/plan/forecasts.ts';
import { addAttempt, addTasks, memoryStore, moveTask } from './memory-store.ts';

test('a machine reads only the open forecasts of its own work', async () => {
  const project = await memoryStore();
  try {
    const { a = '', b = '' } = await addTasks(project, [{ title: 'a' }, { title: 'b' }]);
    for (const id of [a, b]) {
      await moveTask(project, id, ['claimed', 'in_progress'], { epoch: 1 });
      await addAttempt(project, id, { machine: 'm1', state: 'running' });
    }
    const { store } = project;
    await store.transaction((tx) =>
      recordForecast(
        tx,
        store.sources,
        { taskId: b, otherId: a },
        { level: 'conflict', files: ['x'] },
        [],
      ),
    );
    const pairs = async (machine: string): Promise<readonly string[]> =>
      (await readForecasts(store.db, machine, [])).map((one) => `${one.taskId} ${one.otherId}`);
    assert.deepEqual(await pairs('m1'), [`${b} ${a}`]);
    assert.deepEqual(await pairs('m2'), []);
  } finally {
    await project.close();
  }
});
