// A question about candidates can always be answered: a choice with nothing to choose is withdrawn.

import assert from 'node:assert/strict';
import { openCandidates, openQuestions, taskById } from '../../../server/store/port.ts';
import { settleAll } from '../../../server/workflows/attempt/candidates.ts';
import { addTasks, memoryStore, moveTask, type TestStore } from '../store/memory-store.ts';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';

suite('the choice of a candidate', () => {
  let project: TestStore;
  let id: string;
  let engine: Engine;

  setup(async () => {
    project = await memoryStore();
    const { store } = project;
    id = (await addTasks(project, [{ title: 'A' }]))['A'] ?? '';
    engine = { store, settings: () => ({ choose: 'person' }) } as unknown as Engine;
    await store.transaction(async (tx) => {
      const task = await taskById(tx, id);
      assert.ok(task);
      await openCandidates(tx, store.sources, task, { count: 2, baseSha: 'base', runId: 'run-1' });
    });
  });
  teardown(() => project.close());

  async function passes(candidate: string): Promise<void> {
    await moveTask(project, candidate, ['claimed', 'in_progress', 'needs_review'], {
      review_kind: 'candidate',
      commit_sha: `commit of ${candidate}`,
    });
  }
  const asked = async (): Promise<readonly string[]> =>
    (await openQuestions(project.store.db, id)).map((question) => question.choices);

  test('it is withdrawn when all candidates were sent back, and asked again', async () => {
    const [first, second] = [`${id}-c1`, `${id}-c2`];
    await passes(first);
    await passes(second);
    assert.equal(await settleAll(engine), 1);
    const both = [JSON.stringify([first, second])];
    assert.deepEqual(await asked(), both);

    await moveTask(project, first, ['ready'], { review_kind: null });
    assert.equal(await settleAll(engine), 0, 'the other one can be chosen still');
    assert.deepEqual(await asked(), both);
    await moveTask(project, second, ['ready'], { review_kind: null });
    assert.equal(await settleAll(engine), 1);
    assert.deepEqual(await asked(), []);

    await passes(first);
    await passes(second);
    assert.equal(await settleAll(engine), 1);
    assert.deepEqual(await asked(), both);
  });
});
