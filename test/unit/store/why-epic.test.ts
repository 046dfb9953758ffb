// Why an epic has not landed, from its first task to its landing.

import assert from 'node:assert/strict';
import { endEpicLanding, markEpicLanded } from '../../../server/store/plan/epic-landing.ts';
import { addEpic } from '../../../server/store/plan/epics.ts';
import { why } from '../../../server/store/why/why.ts';
import { noFallback } from '../../doubles/neutral-settings.ts';
import { tablesOf } from '../../tables.ts';
import { addTasks, memoryStore, moveTask, testStartMs, type TestStore } from './memory-store.ts';

suite('why for an epic', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  const reasonsOf = (id: string): Promise<readonly string[]> =>
    why(project.store.db, id, {
      nowMs: testStartMs,
      agentKind: 'claude',
      agents: noFallback,
      hasBackend: true,
      gateNeeds: [],
    });

  test('it shows the progress of an epic, the remaining tasks, and why the epic does not land', async () => {
    const { store, sources } = project;
    const epic = await store.transaction((tx) => addEpic(tx, sources, { title: 'Epic' }));
    assert.deepEqual(await reasonsOf(epic.id), [
      `${epic.id} has no tasks. Add one with: drover add "…" --epic ${epic.id}.`,
    ]);
    const ids = await addTasks(project, [
      { title: 'one', epic: epic.id },
      { title: 'two', epic: epic.id },
      { title: 'three', epic: epic.id },
    ]);
    await moveTask(project, ids['one'] ?? '', ['claimed', 'in_progress', 'completed'], {
      landed_on: `drover/epic/${epic.id}`,
    });
    await moveTask(project, ids['three'] ?? '', ['cancelled']);
    const [count, ...more] = await reasonsOf(epic.id);
    assert.equal(count, '1 of 2 tasks are completed, 1 cancelled.');
    assert.equal(more.length, 1);
    assert.match(more[0] ?? '', new RegExp(`^${ids['two']} is ready`, 'u'));
    await moveTask(project, ids['two'] ?? '', ['cancelled']);
    assert.deepEqual((await reasonsOf(epic.id)).slice(1), [
      `Its work is on drover/epic/${epic.id}: "drover run --epic ${epic.id}" lands it.`,
    ]);
    const end = { state: 'gate_failed', note: 'the gate is red', reviewTree: null } as const;
    await store.transaction((tx) => endEpicLanding(tx, epic.id, end));
    assert.equal((await reasonsOf(epic.id))[0], 'The gate is red.');
    await store.transaction((tx) => markEpicLanded(tx, epic.id, 'a'.repeat(40)));
    assert.deepEqual(await reasonsOf(epic.id), [
      `${epic.id} has landed as aaaaaaaaaaaa.`,
      '1 of 1 task is completed, 2 cancelled.',
    ]);
    const line = { branch: `drover/epic/${epic.id}`, landed_sha: 'b', parent_branch: 'main' };
    await tablesOf(store.db).insertInto('lines').values(line).execute();
    assert.equal(
      (await reasonsOf(ids['one'] ?? ''))[1],
      `Its epic ${epic.id} has landed on main as aaaaaaaaaaaa.`,
    );
  });
});
