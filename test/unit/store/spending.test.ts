// Usage, added up by part, task, epic and day.

import assert from 'node:assert/strict';
import { nothingSpent } from '../../../server/core/work/budget.ts';
import {
  addSpending,
  readPace,
  setPace,
  spentByPart,
  spentByScope,
} from '../../../server/store/work/spending.ts';
import { addTasks, memoryStore, type TestStore } from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

suite('spending', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  test('it adds up over parts, attempts, days and tasks', async () => {
    const { store } = project;
    const {
      A = '',
      B = '',
      C = '',
    } = await addTasks(project, [{ title: 'A' }, { title: 'B' }, { title: 'C' }]);
    await tablesOf(store.db)
      .insertInto('epics')
      .values({ id: 'e', title: 'E', created_at: 1 })
      .execute();
    await tablesOf(store.db)
      .updateTable('tasks')
      .set({ epic_id: 'e' })
      .where('id', 'in', [A, B])
      .execute();
    const add = (taskId: string, attempt: number, part: string, day: string, tokens: number) =>
      store.transaction((tx) =>
        addSpending(
          tx,
          { taskId, attempt, part, day },
          { tokens, usd: 0.5, turns: 1, workedMs: 2 },
        ),
      );
    await add(A, 1, A, '2026-01-01', 1);
    await add(A, 1, A, '2026-01-01', 10);
    await add(A, 1, 'sub', '2026-01-01', 100);
    await add(A, 2, A, '2026-01-02', 1_000);
    await add(B, 1, B, '2026-01-02', 10_000);
    await add(C, 1, C, '2026-01-02', 100_000);
    const { db } = store;
    assert.deepEqual(await spentByPart(db, { taskId: A, attempt: 1, part: A }), {
      tokens: 11,
      usd: 1,
      turns: 2,
      workedMs: 4,
    });
    assert.equal((await spentByScope(db, 'task', A)).tokens, 1_111);
    assert.equal((await spentByScope(db, 'epic', 'e')).tokens, 11_111);
    assert.equal((await spentByScope(db, 'day', '2026-01-02')).tokens, 111_000);
    assert.deepEqual(await spentByScope(db, 'day', '2026-01-03'), nothingSpent);
  });

  test("an account's pace is shown beside its limit", async () => {
    const { store } = project;
    assert.equal(await readPace(store.db, 'claude'), null);
    await tablesOf(store.db)
      .insertInto('accounts')
      .values({ name: 'claude', limited_until_ms: 5, message: 'm' })
      .execute();
    assert.equal(await readPace(store.db, 'claude'), null);
    for (const name of ['claude', 'codex']) {
      await store.transaction((tx) => setPace(tx, name, { agents: 2, atMs: 7 }));
      assert.deepEqual(await readPace(store.db, name), { agents: 2, atMs: 7 });
    }
    const row = await tablesOf(store.db)
      .selectFrom('accounts')
      .selectAll()
      .orderBy('name')
      .execute();
    assert.deepEqual(
      row.map(({ limited_until_ms: untilMs }) => untilMs),
      [5, null],
    );
  });
});
