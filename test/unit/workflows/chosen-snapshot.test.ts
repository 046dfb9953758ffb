// A person chooses a snapshot on one machine of a fleet, and the attempt that must start from it
// starts on another.

import assert from 'node:assert/strict';
import { ok } from '../../../server/core/failure.ts';
import { lastAttempt } from '../../../server/store/work/claims.ts';
import { startOfAttempt, storedChoice } from '../../../server/workflows/attempt/earlier-work.ts';
import { restoreTask } from '../../../server/workflows/person/restore-task.ts';
import { addAttempt, addTasks, memoryStore, type TestStore } from '../store/memory-store.ts';
import { type AttemptRow } from '../../../server/store/port.ts';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';

suite('a chosen snapshot', () => {
  let project: TestStore;
  let id: string;
  setup(async () => {
    project = await memoryStore();
    id = (await addTasks(project, [{ title: 'A' }]))['A'] ?? '';
    await attempt(1, 'failed');
  });
  teardown(() => project.close());

  async function attempt(number: number, state: AttemptRow['state']): Promise<void> {
    const more = { agent: 'command', branch: `drover/${id}/${number}`, machine: 'm-2' };
    await addAttempt(project, id, { number, state, ...more });
  }

  /** A machine with its own refs. */
  function machine(machineId: string): Engine {
    const refs = new Map<string, string>();
    const view = (commit: string) => ({ commit, head: `head of ${commit}`, label: `${id}/1` });
    return {
      machineId,
      store: project.store,
      clock: project.sources.clock,
      git: {
        listSnapshots: async () => ok([view('s1'), view('s2')]),
        snapshotAt: async (commit: string) => ok(view(commit)),
        readRef: async (ref: string) => refs.get(ref) ?? null,
        updateRef: async (ref: string, next: string) => ok(refs.set(ref, next)),
      },
    } as unknown as Engine;
  }

  test('the attempt starts from the snapshot that was chosen last', async () => {
    const [desk, worker] = [machine('desk'), machine('m-2')];
    assert.equal(await restoreTask(worker, id, 2), 2);
    assert.equal(await restoreTask(desk, id, 1), 1);
    await attempt(2, 'running');
    const begun = await lastAttempt(project.store.db, id);
    assert.ok(begun);
    for (const engine of [desk, worker]) {
      const start = await startOfAttempt(
        engine,
        begun,
        await storedChoice(engine, {
          taskId: begun.task_id,
          attempt: begun.number,
        }),
      );
      assert.deepEqual(start, { commit: 'head of s1', branch: `drover/${id}/1` });
    }
  });
});
