// The past: however a plan changes, the state that is computed for an earlier time equals the state
// that was seen then.

import assert from 'node:assert/strict';
import { Refusal } from '../../../server/core/failure.ts';
import { setHolds } from '../../../server/store/status/holds.ts';
import { openPast, type PastMoment } from '../../../server/store/history/past.ts';
import { askQuestion } from '../../../server/store/work/questions.ts';
import type { Db } from '../../../server/store/rows/one-moment.ts';
import { readSnapshot } from '../../../server/store/board/snapshot.ts';
import type { Tx } from '../../../server/store/port.ts';
import { editTask } from '../../../server/store/plan/task-edit.ts';
import { removeTasks } from '../../../server/store/plan/task-remove.ts';
import { addEpic } from '../../../server/store/plan/epics.ts';
import { addTask } from '../../../server/store/plan/tasks.ts';
import { why } from '../../../server/store/why/why.ts';
import { SeededChance } from '../../doubles/seeded-chance.ts';
import { addTasks, memoryStore, refusalOf, testStartMs, type TestStore } from './memory-store.ts';
import { noFallback } from '../../doubles/neutral-settings.ts';
import { tablesOf } from '../../tables.ts';
import { sized } from '../../tier.ts';

const extras = { config: () => ({}), targetBranch: 'main', shaOf: async () => null };

/** The snapshot, and why each task is in its state. */
async function seen(db: Db): Promise<unknown> {
  const snapshot = await readSnapshot(db, {}, extras);
  const facts = {
    nowMs: testStartMs,
    agentKind: 'claude',
    agents: noFallback,
    hasBackend: true,
    gateNeeds: [],
  };
  const reasons: Record<string, readonly string[]> = {};
  for (const { id } of snapshot.tasks) reasons[id] = await why(db, id, facts);
  return JSON.parse(JSON.stringify({ snapshot, reasons }));
}

async function past(project: TestStore, moment: PastMoment): Promise<unknown> {
  const opened = await openPast(project.store.db, moment);
  try {
    return await seen(opened.db);
  } finally {
    await opened.close();
  }
}

type Change = (tx: Tx, ids: readonly string[], chance: SeededChance) => Promise<unknown>;

function changesOf(project: TestStore): readonly Change[] {
  const { store, sources } = project;
  const one = (ids: readonly string[], chance: SeededChance): string =>
    ids[chance.below(Math.max(ids.length, 1))] ?? 'none';
  return [
    async (tx, ids, chance) => {
      const blocked = ids.length > 0 && chance.percent(50) ? [one(ids, chance)] : [];
      await addTask(tx, sources, { title: `Täsk "${ids.length}" / ✓`, blocked_by: blocked });
    },
    async (tx, ids, chance) => {
      const epic = await addEpic(tx, sources, { title: 'An epic' });
      await editTask(tx, sources, one(ids, chance), { epic: epic.id });
    },
    async (tx, ids, chance) => editTask(tx, sources, one(ids, chance), { description: 'a\n"b"' }),
    async (tx, ids, chance) =>
      editTask(tx, sources, one(ids, chance), { add_blockers: [one(ids, chance)] }),
    async (tx, ids, chance) => removeTasks(tx, sources, [one(ids, chance)]),
    async (tx, ids, chance) => {
      const taskId = one(ids, chance);
      const to = chance.percent(50) ? 'claimed' : 'ready';
      await store.transition(tx, { taskId, to, event: `task.${to}` });
    },
    async (tx, ids, chance) => {
      const taskId = one(ids, chance);
      const to = (['in_progress', 'completed', 'failed', 'paused'] as const)[chance.below(4)];
      const set = { cost_usd: chance.next() / 3, landed_sha: 'f'.repeat(40) };
      await store.transition(tx, { taskId, to: to ?? 'paused', event: `task.${to}`, set });
    },
    async (tx, _ids, chance) => {
      const hold = { scope: 'day', reason: `no ${chance.below(9)}`, untilMs: null };
      await setHolds(tx, sources, chance.percent(50) ? [hold] : []);
    },
    async (tx, ids, chance) => {
      const asked = { attempt: 1, requestId: 'r', kind: 'question', text: '?', choices: ['a'] };
      await askQuestion(tx, sources, { ...asked, taskId: one(ids, chance) });
    },
    // Changes without an event, which belong to no event number.
    async (tx, ids, chance) =>
      tablesOf(tx)
        .updateTable('tasks')
        .set({ cost_usd: chance.next(), phase: 'agent' })
        .where('id', '=', one(ids, chance))
        .execute(),
    async (tx) =>
      tablesOf(tx)
        .insertInto('runs')
        .values({
          id: 'run-1',
          state: 'active',
          started_at_ms: testStartMs,
          workers: 2,
          land: 'task',
          target_branch: 'main',
          line: 'main',
          base_sha: 'a'.repeat(40),
          flags: '{}',
        })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ workers: 3 }))
        .execute(),
  ];
}

async function lastChange(db: Db): Promise<number> {
  const row = await db
    .selectFrom('past')
    .select((eb) => eb.fn.max('n').as('n'))
    .executeTakeFirst();
  return row?.n ?? 0;
}

suite('the past', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  for (const seed of sized([1], [1, 2, 3])) {
    test(`an earlier state of a randomly changing plan is exact, seed ${seed}`, async function () {
      // Takes seconds alone, and many times that beside other work.
      this.timeout(120_000);
      const { store } = project;
      const chance = new SeededChance(seed);
      const changes = changesOf(project);
      const moments: { change: number; seq: number; state: unknown }[] = [];
      for (let step = 0; step < 70; step += 1) {
        project.sources.nowMs += 1_000;
        const rows = await tablesOf(store.db)
          .selectFrom('tasks')
          .select('id')
          .orderBy('id')
          .execute();
        const ids = rows.map((row) => row.id);
        const change = changes[step < 5 ? 0 : chance.below(changes.length)] as Change;
        try {
          await store.transaction((tx) => change(tx, ids, chance));
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
        }
        const [last, seq] = [await lastChange(store.db), await store.feed.lastSeq()];
        moments.push({ change: last, seq, state: await seen(store.db) });
      }
      for (const { change, state } of moments) {
        assert.deepEqual(await past(project, { change }), state, `after change ${change}`);
      }
      // The state after an event is the last state that was seen before the transaction of the next
      // event.
      const bySeq = new Map(moments.map(({ seq, state }) => [seq, state]));
      for (const [seq, state] of bySeq) {
        assert.deepEqual(await past(project, { seq }), state, `after event ${seq}`);
      }
    });
  }

  test('a time stands for the events until then', async () => {
    await addTasks(project, [{ title: 'a' }]);
    const before = await seen(project.store.db);
    project.sources.nowMs += 60_000;
    await addTasks(project, [{ title: 'b' }]);
    const after = await seen(project.store.db);
    assert.deepEqual(await past(project, { atMs: testStartMs + 59_999 }), before);
    assert.deepEqual(await past(project, { atMs: testStartMs + 60_000 }), after);
  });

  test('the past ends at the last event, and the command says so', async () => {
    const refusal = await refusalOf(openPast(project.store.db, { seq: 7 }));
    assert.match(refusal.message, /Event 7 has not happened yet/);
  });

  test('the past starts at the first stored change, and the command says so', async () => {
    await addTasks(project, [{ title: 'a' }, { title: 'b' }]);
    await tablesOf(project.store.db).updateTable('past_start').set({ seq: 2 }).execute();
    await past(project, { seq: 2 });
    const refusal = await refusalOf(openPast(project.store.db, { seq: 1 }));
    assert.match(refusal.message, /keeps the history of this project from event 2 on/);
    await tablesOf(project.store.db).updateTable('past_start').set({ seq: 0 }).execute();
  });
});
