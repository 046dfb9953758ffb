// Sub-tasks share their parent's fate, but finished ones never run again.

import assert from 'node:assert/strict';
import { claimTask } from '../../../server/store/work/claims.ts';
import { editTask } from '../../../server/store/plan/task-edit.ts';
import { beginSubTask } from '../../../server/store/status/transition.ts';
import { addTasks, memoryStore, moveTask, statusOf, type TestStore } from './memory-store.ts';

suite('sub-tasks', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  const claim = (id: string): ReturnType<typeof claimTask> =>
    project.store.transaction((tx) =>
      claimTask(tx, project.sources, {
        machine: '',
        taskId: id,
        runId: 'run',
        owner: 'me',
        agent: 'claude',
        model: null,
        step: 0,
        agentResumes: true,
        sessionId: 's',
        plansFirst: false,
      }),
    );

  test('an agent does not get a part again that was finished before', async () => {
    const {
      P = '',
      D = '',
      S = '',
    } = await addTasks(project, [{ title: 'D' }, { title: 'P' }, { title: 'S', parent: 'P' }]);
    await moveTask(project, D, ['claimed', 'in_progress', 'completed']);
    await project.store.transaction((tx) => editTask(tx, project.sources, D, { parent: P }));
    assert.deepEqual((await claim(P))?.parts, [S, P]);
    await moveTask(project, P, ['ready']);
    assert.equal(await statusOf(project, D), 'completed');
  });

  test('a reset of the parent resets all of them', async () => {
    const { P = '', S = '' } = await addTasks(project, [
      { title: 'P' },
      { title: 'S', parent: 'P' },
    ]);
    await moveTask(project, P, ['claimed', 'in_progress', 'completed']);
    assert.equal(await statusOf(project, S), 'completed');
    await moveTask(project, P, ['ready']);
    assert.equal(await statusOf(project, S), 'ready');
  });

  test('a retry of a cancelled parent restores them', async () => {
    const { P = '', S = '' } = await addTasks(project, [
      { title: 'P' },
      { title: 'S', parent: 'P' },
    ]);
    await moveTask(project, P, ['cancelled']);
    assert.equal(await statusOf(project, S), 'cancelled');
    await moveTask(project, P, ['ready']);
    assert.equal(await statusOf(project, S), 'ready');
  });

  test('a parent that names its own sub-task as a blocker is not held by it', async () => {
    const { P = '', S = '' } = await addTasks(project, [
      { title: 'P' },
      { title: 'S', parent: 'P' },
    ]);
    await project.store.transaction((tx) =>
      editTask(tx, project.sources, P, { add_blockers: [S] }),
    );
    assert.equal(await statusOf(project, P), 'ready');
    await moveTask(project, P, ['claimed', 'in_progress', 'completed']);
    await moveTask(project, P, ['ready']);
    assert.deepEqual([await statusOf(project, P), await statusOf(project, S)], ['ready', 'ready']);
  });

  test('a sub-task that gets a blocker while its parent runs still gets its turn', async () => {
    const {
      P = '',
      S = '',
      B = '',
    } = await addTasks(project, [{ title: 'P' }, { title: 'S', parent: 'P' }, { title: 'B' }]);
    await claim(P);
    await project.store.transaction((tx) =>
      editTask(tx, project.sources, S, { add_blockers: [B] }),
    );
    assert.equal(await statusOf(project, S), 'blocked');
    await project.store.transaction((tx) => beginSubTask(tx, project.sources, S));
    assert.equal(await statusOf(project, S), 'in_progress');
    await moveTask(project, P, ['in_progress', 'ready']);
    assert.deepEqual(
      [await statusOf(project, P), await statusOf(project, S)],
      ['blocked', 'blocked'],
    );
  });

  test('a sub-task that is blocked when its parent lands is completed with it', async () => {
    const {
      P = '',
      S = '',
      B = '',
    } = await addTasks(project, [{ title: 'P' }, { title: 'S', parent: 'P' }, { title: 'B' }]);
    await claim(P);
    await project.store.transaction((tx) =>
      editTask(tx, project.sources, S, { add_blockers: [B] }),
    );
    await moveTask(project, P, ['in_progress', 'completed']);
    assert.equal(await statusOf(project, S), 'completed');
    await moveTask(project, B, ['claimed', 'in_progress', 'completed']);
    assert.equal(await statusOf(project, S), 'completed');
  });
});
