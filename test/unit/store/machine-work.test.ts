// A machine reports the end of its own attempts even if other machines have continued with the
// task.

import assert from 'node:assert/strict';
import { machineWork } from '../../../server/store/fleet/machine-work.ts';
import type { AttemptState } from '../../../server/store/schema/column-values.ts';
import { addAttempt, addTasks, memoryStore, moveTask, type TestStore } from './memory-store.ts';

suite("a machine's work", () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  /** The first attempt ran on m1; the second, which completes the task, on m2. */
  async function outcomeOfFirst(state: AttemptState, isReclaimed = true): Promise<string> {
    const ids = await addTasks(project, [{ title: 'a' }]);
    const id = ids['a'] ?? '';
    await moveTask(project, id, ['claimed', 'in_progress'], { epoch: 1 });
    await addAttempt(project, id, { machine: 'm1', state, error: 'its machine m1 was stopped' });
    if (isReclaimed) {
      await addAttempt(project, id, { machine: 'm2', number: 2, epoch: 2, state: 'succeeded' });
      await moveTask(project, id, ['ready', 'claimed', 'in_progress', 'completed'], { epoch: 2 });
    }
    const [work] = await machineWork(project.store.db, 'm1', [id]);
    assert.equal(work?.isAtWork, !isReclaimed);
    return `${work.outcome} ${String(work.error)}`;
  }

  const ends: Readonly<Record<AttemptState, string>> = {
    running: 'reassigned its machine m1 was stopped',
    interrupted: 'reassigned its machine m1 was stopped',
    waiting: 'waiting null',
    submitted: 'landing null',
    succeeded: 'completed null',
    failed: 'failed its machine m1 was stopped',
  };
  for (const [state, outcome] of Object.entries(ends)) {
    test(`an attempt that is ${state} is not reported with another machine's result`, async () => {
      assert.equal(await outcomeOfFirst(state as AttemptState), outcome);
    });
  }

  test('the current attempt is reported with the state of its task', async () => {
    assert.equal(await outcomeOfFirst('running', false), 'in_progress its machine m1 was stopped');
  });
});
