// Random plans: derived values stay right after any additions, edits, moves and completions in any
// order.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Refusal } from '../../../server/core/failure.ts';
import { criticalPathLengths, findCycle } from '../../../server/core/plan/graph.ts';
import { readGraph } from '../../../server/store/status/graph-rows.ts';
import { editTask } from '../../../server/store/plan/task-edit.ts';
import { addTask } from '../../../server/store/plan/tasks.ts';
import { unmetBlockers } from '../../../server/store/status/transition.ts';
import { readBoard } from '../../../server/store/board/board.ts';
import { drawn, memoryStore, type TestStore } from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

type Step =
  | { readonly kind: 'add'; readonly blockers: readonly number[]; readonly parent: number | null }
  | { readonly kind: 'block'; readonly task: number; readonly blocker: number }
  | { readonly kind: 'unblock'; readonly task: number; readonly blocker: number }
  | { readonly kind: 'move'; readonly task: number; readonly parent: number | null }
  | { readonly kind: 'complete'; readonly task: number };

const index = fc.nat({ max: 11 });
const parent = fc.option(index, { freq: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('add' as const),
      blockers: fc.array(index, { maxLength: 2 }),
      parent,
    }),
  },
  fc.record({ kind: fc.constant('block' as const), task: index, blocker: index }),
  fc.record({ kind: fc.constant('unblock' as const), task: index, blocker: index }),
  fc.record({ kind: fc.constant('move' as const), task: index, parent }),
  fc.record({ kind: fc.constant('complete' as const), task: index }),
);

async function apply(project: TestStore, ids: string[], one: Step): Promise<void> {
  const { store, sources } = project;
  const idOf = (number: number): string => ids[number % Math.max(ids.length, 1)] ?? 'none';
  const parentOf = (number: number | null): string | null =>
    number === null || ids.length === 0 ? null : idOf(number);
  await store.transaction(async (tx) => {
    switch (one.kind) {
      case 'add': {
        const blocked = ids.length === 0 ? [] : one.blockers.map(idOf);
        const fields = { title: 'Do it', blocked_by: blocked, parent: parentOf(one.parent) };
        ids.push((await addTask(tx, sources, fields)).id);
        return;
      }
      case 'block':
        await editTask(tx, sources, idOf(one.task), { add_blockers: [idOf(one.blocker)] });
        return;
      case 'unblock':
        await editTask(tx, sources, idOf(one.task), { remove_blockers: [idOf(one.blocker)] });
        return;
      case 'move':
        await editTask(tx, sources, idOf(one.task), { parent: parentOf(one.parent) });
        return;
      case 'complete':
        for (const to of ['claimed', 'in_progress', 'completed'] as const) {
          await store.transition(tx, { taskId: idOf(one.task), to, event: `task.${to}` });
        }
    }
  });
}

async function checkDerived(project: TestStore): Promise<void> {
  const { db } = project.store;
  const graph = await readGraph(db);
  assert.equal(findCycle(graph), null);
  const chains = criticalPathLengths(graph);
  const board = await readBoard(db);
  const rows = await tablesOf(db)
    .selectFrom('tasks')
    .select(['id', 'chain', 'parent_id'])
    .execute();
  for (const row of rows) {
    if (row.parent_id === null) assert.equal(row.chain, chains.get(row.id), `chain of ${row.id}`);
  }
  for (const task of board.tasks) {
    const unmet = await unmetBlockers(db, task.id);
    assert.deepEqual(task.waits_for.toSorted(), unmet.toSorted(), `waits of ${task.id}`);
    if (task.status !== 'ready' && task.status !== 'blocked') continue;
    assert.equal(task.status, unmet.length > 0 ? 'blocked' : 'ready', `status of ${task.id}`);
  }
}

suite('random plans', () => {
  test('statuses, chains and loops stay correct', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
        const project = await memoryStore();
        const ids: string[] = [];
        for (const one of steps) {
          try {
            await apply(project, ids, one);
          } catch (error) {
            if (!(error instanceof Refusal)) throw error;
          }
          await checkDerived(project);
        }
        await project.close();
      }),
      { numRuns: drawn(40) },
    );
  });
});
