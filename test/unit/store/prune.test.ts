// Retention removes old data of closed epics; it removes nothing of an open epic, and reports about
// the rest do not change.

import assert from 'node:assert/strict';
import { parseAge } from '../../../server/core/settings/retention.ts';
import { closeEpic, addEpic } from '../../../server/store/plan/epics.ts';
import { openPast } from '../../../server/store/history/past.ts';
import {
  prunePast,
  pruneDeliveries,
  pruneVerdicts,
} from '../../../server/store/history/prune-rows.ts';
import { lastPruned, pruneEvents, type PruneRun } from '../../../server/store/history/prune.ts';
import { readMetrics } from '../../../server/store/history/read-history.ts';
import { readSnapshot } from '../../../server/store/board/snapshot.ts';
import { answerSubscribe } from '../../../server/rpc/transport/subscribe.ts';
import { testSeed } from '../../tier.ts';
import { memoryStore, moveTask, type TestStore } from './memory-store.ts';
import { addTask } from '../../../server/store/plan/tasks.ts';
import type { TaskStatus } from '../../../server/core/plan/state.ts';
import { tablesOf } from '../../tables.ts';

const dayMs = 24 * 3_600_000;

/** A small generator of random numbers, so that a failing seed fails again. */
function numbersOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

const paths: readonly (readonly TaskStatus[])[] = [
  [],
  ['claimed', 'in_progress'],
  ['claimed', 'in_progress', 'completed'],
  ['claimed', 'in_progress', 'completed'],
  ['claimed', 'in_progress', 'failed'],
  ['cancelled'],
  ['paused'],
];

const endings = paths.filter((path) =>
  ['completed', 'failed', 'cancelled'].includes(path.at(-1) ?? ''),
);

interface Plan {
  readonly open: ReadonlySet<string>;
}

/**
 * Epics of a hundred days, some of them closed, with tasks that depend on each other, gates and
 * runs.
 */
async function randomPlan(project: TestStore, seed: number): Promise<Plan> {
  const below = numbersOf(seed);
  const { store, sources } = project;
  const epics: string[] = [];
  const tasks: string[] = [];
  for (let at = 0; at < 4; at += 1) {
    const epic = await store.transaction((tx) => addEpic(tx, sources, { title: `epic ${at}` }));
    epics.push(epic.id);
  }
  for (let run = 0; run < 12; run += 1) {
    sources.nowMs += 8 * dayMs;
    await store.transaction(async (tx) => {
      await store.append(tx, { type: 'run.started', runId: `run-${run}` });
      await tablesOf(tx)
        .insertInto('runs')
        .values({
          id: `run-${run}`,
          state: 'finished',
          started_at_ms: sources.nowMs,
          ended_at_ms: sources.nowMs + dayMs,
          workers: 1,
          land: 'task',
          target_branch: 'main',
          line: 'main',
          base_sha: 'a',
          flags: '{}',
        })
        .execute();
    });
    for (let at = 0; at < 3; at += 1) {
      const place = below(5);
      const epic = epics[place] ?? null;
      const blocker = tasks[below(tasks.length * 6)];
      const row = await store.transaction((tx) =>
        addTask(tx, sources, {
          title: `task ${tasks.length}`,
          epic,
          blocked_by: blocker === undefined ? [] : [blocker],
        }),
      );
      tasks.push(row.id);
      sources.nowMs += 60_000;
      // The first two epics come to an end.
      const choice = place < 2 ? endings : paths;
      const path = row.status === 'ready' ? (choice[below(choice.length)] ?? []) : [];
      for (const status of path) {
        sources.nowMs += 60_000;
        await moveTask(project, row.id, [status]);
      }
      await store.transaction(async (tx) => {
        await store.append(tx, {
          type: 'gate.passed',
          data: { task_ids: [row.id], duration_ms: 2_000 },
        });
      });
    }
    await store.transaction((tx) =>
      store.append(tx, { type: 'run.finished', runId: `run-${run}`, data: { state: 'finished' } }),
    );
  }
  for (const id of epics) {
    await store.transaction((tx) => closeEpic(tx, sources, id)).catch(() => undefined);
  }
  return { open: await openTasks(project) };
}

/** Tasks of open epics, and tasks without an epic that are not completed. */
async function openTasks({ store }: TestStore): Promise<ReadonlySet<string>> {
  const rows = await tablesOf(store.db)
    .selectFrom('tasks')
    .leftJoin('epics', 'epics.id', 'tasks.epic_id')
    .select(['tasks.id', 'tasks.status', 'tasks.epic_id', 'epics.status as epic_status'])
    .execute();
  return new Set(
    rows
      .filter(({ status, epic_id: epic, epic_status: ofEpic }) =>
        epic === null ? !['completed', 'cancelled'].includes(status) : ofEpic !== 'closed',
      )
      .map(({ id }) => id),
  );
}

suite('retention', () => {
  let project: TestStore;

  setup(async () => {
    project = await memoryStore();
  });

  teardown(() => project.close());

  const runOf = (isDry: boolean): PruneRun => ({
    store: project.store,
    isDry,
    yieldTurn: async () => true,
  });

  const events = () =>
    tablesOf(project.store.db).selectFrom('events').selectAll().orderBy('seq').execute();

  const snapshot = async () => ({
    ...(await readSnapshot(
      project.store.db,
      {},
      {
        config: () => ({}),
        targetBranch: 'main',
        shaOf: async () => null,
      },
    )),
  });

  for (let seed = testSeed; seed < testSeed + 6; seed += 1) {
    test(`nothing of an open epic is removed, and the other views stay the same (seed ${seed})`, async () => {
      const { open } = await randomPlan(project, seed);
      const nowMs = project.sources.nowMs;
      const beforeMs = nowMs - 30 * dayMs;
      const all = await events();
      const told = {
        status: await snapshot(),
        metrics: await readMetrics(project.store.db, nowMs, { project: 'p', machineId: '' }),
      };
      const start = all.find((row) => row.at_ms >= beforeMs);
      const past = await openPast(project.store.db, { seq: start?.seq ?? 0 });
      const earlier = await past.db.selectFrom('tasks').selectAll().orderBy('id').execute();
      await past.close();

      const planned = [
        await prunePast(runOf(true), beforeMs),
        await pruneEvents(runOf(true), beforeMs),
      ];
      assert.deepEqual(await events(), all, 'a dry run removes nothing');
      const done = [
        await prunePast(runOf(false), beforeMs),
        await pruneEvents(runOf(false), beforeMs),
      ];
      assert.deepEqual(done, planned);
      const left = await events();
      assert.equal(done[1]?.count, all.length - left.length);

      const leftSeqs = new Set(left.map((row) => row.seq));
      for (const row of all) {
        const isKept = row.at_ms >= beforeMs || (row.task_id !== null && open.has(row.task_id));
        if (isKept) assert.ok(leftSeqs.has(row.seq), `${row.seq} ${row.type} of ${row.task_id}`);
      }
      const linked = await tablesOf(project.store.db)
        .selectFrom('task_dependencies')
        .innerJoin('tasks', 'tasks.id', 'task_dependencies.task_id')
        .select('task_dependencies.blocked_by')
        .where('tasks.status', 'not in', ['completed', 'cancelled'])
        .execute();
      for (const { blocked_by: id } of linked) {
        const count = (rows: typeof all): number => rows.filter((row) => row.task_id === id).length;
        assert.equal(count(left), count(all), `an unfinished task links to ${id}`);
      }
      assert.deepEqual(await snapshot(), told.status);
      assert.equal(
        rounded(await readMetrics(project.store.db, nowMs, { project: 'p', machineId: '' })),
        rounded(told.metrics),
      );
      const again = await openPast(project.store.db, { seq: start?.seq ?? 0 });
      const still = await again.db.selectFrom('tasks').selectAll().orderBy('id').execute();
      await again.close();
      assert.deepEqual(still, earlier);

      const feed = {
        read: async () => [],
        onAppend: () => () => undefined,
        lastSeq: () => project.store.feed.lastSeq(),
        lastPruned: () => lastPruned(project.store.db),
      };
      assert.equal(await feed.lastSeq(), all.at(-1)?.seq);
      const pruned = await lastPruned(project.store.db);
      const at = async (after: number): Promise<string> =>
        (await answerSubscribe(feed, async () => snapshot(), after)).answer.kind;
      assert.equal(await at(all.at(-1)?.seq ?? 0), 'replay');
      if (pruned > 0) assert.equal(await at(pruned - 1), 'snapshot');
    });
  }

  test('the random projects contain something to remove', async () => {
    await randomPlan(project, 2);
    const removed = await pruneEvents(runOf(false), project.sources.nowMs - 30 * dayMs);
    assert.ok(removed.count > 20, String(removed.count));
  });

  test('a project in which everything is old keeps its last number', async () => {
    const epic = await project.store.transaction((tx) =>
      addEpic(tx, project.sources, { title: 'old' }),
    );
    await project.store.transaction((tx) => closeEpic(tx, project.sources, epic.id));
    const last = await project.store.feed.lastSeq();
    const removed = await pruneEvents(runOf(false), project.sources.nowMs + dayMs);
    assert.equal(removed.count, 1);
    assert.equal(await project.store.feed.lastSeq(), last);
  });

  test('verdicts and deliveries are removed only by age', async () => {
    const { store, sources } = project;
    await store.transaction(async (tx) => {
      for (const [tree, atMs] of [
        ['a', 1],
        ['b', sources.nowMs],
      ] as const) {
        await tablesOf(tx)
          .insertInto('gate_verdicts')
          .values({
            tree_sha: tree,
            command: 'make',
            ok: 1,
            duration_ms: 1,
            output_tail: 'tail',
            at_ms: atMs,
          })
          .execute();
        await tablesOf(tx)
          .insertInto('webhook_deliveries')
          .values({
            endpoint: tree,
            seq: 1,
            id: tree,
            event: 'task.created',
            body: '{}',
            state: 'sent',
            next_at_ms: 1,
            created_at_ms: 1,
            ended_at_ms: atMs,
          })
          .execute();
      }
    });
    const beforeMs = sources.nowMs - dayMs;
    assert.deepEqual(await pruneVerdicts(runOf(false), beforeMs), { count: 1, bytes: 8 });
    assert.deepEqual(await pruneDeliveries(runOf(false), beforeMs), { count: 1, bytes: 2 });
    assert.deepEqual(await pruneVerdicts(runOf(true), beforeMs), { count: 0, bytes: 0 });
  });

  test('ages are written as days, weeks or hours', () => {
    assert.deepEqual(['90d', '2w', '48h', 'forever', '0d', '90', '1.5d', ''].map(parseAge), [
      90 * dayMs,
      14 * dayMs,
      2 * dayMs,
      Infinity,
      null,
      null,
      null,
      null,
    ]);
  });
});

/** The last digits of a sum of fractions depend on the order in which they are added. */
function rounded(text: string): string {
  return text.replaceAll(/\d+\.\d+$/gm, (number) => Number(number).toFixed(6));
}
