// A project moves from SQLite to PostgreSQL and back: either everything in it is the same, or
// nothing is moved.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { failAttempt } from '../../server/store/work/attempt-end.ts';
import { claimTask } from '../../server/store/work/claims.ts';
import { markPlanMoved, readMovedTo } from '../../server/store/exchange/moved-away.ts';
import { moveStore } from '../../server/store/exchange/move-project.ts';
import { movedTables } from '../../server/store/exchange/move-tables.ts';
import { openStore } from '../../server/store/open.ts';
import type { Store, StoreTables } from '../../server/store/port.ts';
import { readSnapshot } from '../../server/store/board/snapshot.ts';
import { addTask } from '../../server/store/plan/tasks.ts';
import { addEpic } from '../../server/store/plan/epics.ts';
import { addSpending } from '../../server/store/work/spending.ts';
import { addHint, askQuestion } from '../../server/store/work/questions.ts';
import { removeFolder } from '../remove-folder.ts';
import { testSources } from '../unit/store/memory-store.ts';
import { testDatabases, withStore } from './databases.ts';
import { fillForge } from './fill-forge.ts';
import { tablesOf } from '../tables.ts';

type Db = Kysely<StoreTables>;

/** Every row of every table, in an order that is the same in both databases. */
async function contentOf(db: Db): Promise<string> {
  const tables: unknown[] = [];
  for (const { table, key } of movedTables) {
    const rows = await db.selectFrom(table).selectAll().execute();
    const keyOf = (row: object): string =>
      JSON.stringify(key.map((column) => (row as Record<string, unknown>)[column]));
    tables.push([
      table,
      rows
        .map((row) => {
          const columns = Object.entries(row).filter(([name]) => name !== 'rowid');
          return Object.fromEntries(columns.toSorted(([a], [b]) => (a < b ? -1 : 1)));
        })
        .toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)),
    ]);
  }
  return JSON.stringify(tables);
}

const extras = { config: () => ({}), targetBranch: 'main', shaOf: async () => null };
const shown = async (db: Db): Promise<string> => JSON.stringify(await readSnapshot(db, {}, extras));

/** Tasks of many kinds with a history, and at least one row in each table. */
async function fill(store: Store, count: number): Promise<void> {
  const { sources } = store;
  await store.transaction(async (tx) => {
    const epic = await addEpic(tx, sources, { title: 'An epic' });
    const ids: string[] = [];
    for (let n = 0; n < count; n += 1) {
      const parent = n % 10 === 9 ? (ids.at(-1) ?? null) : null;
      const row = await addTask(tx, sources, {
        title: `Task ${n} – „ß“ 🐑 ${"quote's"}`,
        ...(n % 3 === 0 ? { description: 'Lines\nand\ttabs'.repeat(n % 7) } : {}),
        ...(n % 4 === 0 && parent === null ? { epic: epic.id } : {}),
        ...(n % 5 === 0 && ids.length > 0 ? { blocked_by: [ids[n - 1] ?? ''] } : {}),
        parent,
      });
      ids.push(row.id);
    }
    for (const [index, taskId] of ids.filter((_, n) => n % 10 === 1).entries()) {
      const claim = await claimTask(tx, sources, {
        machine: '',
        taskId,
        runId: 'run-1',
        owner: 'machine',
        agent: 'demo',
        model: null,
        step: 0,
        agentResumes: false,
        plansFirst: false,
        sessionId: `session-${index}`,
      });
      if (claim === null) continue;
      await store.transition(tx, { taskId, to: 'in_progress', event: 'task.started' });
      await addSpending(
        tx,
        { taskId, attempt: 1, part: taskId, day: '2026-01-01' },
        { tokens: index, usd: index / 7, turns: 1, workedMs: 12 },
      );
      await failAttempt(tx, sources, {
        taskId,
        epoch: claim.epoch,
        attempt: claim.attempt,
        runId: 'run-1',
        failure: { kind: 'gate_failed', retryable: index % 2 === 0, message: 'red' },
        retryAtMs: sources.clock.now() + 1_000,
        atEnd: 'failed',
      });
    }
    const [first = ''] = ids;
    await askQuestion(tx, sources, {
      taskId: first,
      attempt: 1,
      requestId: 'r',
      kind: 'choice',
      text: 'Which?',
      choices: ['a', 'b'],
    });
    await addHint(tx, sources, first, 'Mind the gap');
    await fillTheRest(store, tx, first);
  });
}

async function fillTheRest(
  _store: Store,
  tx: Parameters<Parameters<Store['transaction']>[0]>[0],
  taskId: string,
): Promise<void> {
  const at = { created_at: 1, last_used_at: 2 };
  const source = {
    task_id: taskId,
    attempt: 1,
    path: 'src/a.ts',
    line: 2,
    cited: 'a',
    commit_sha: 'b',
  };
  const note = { id: 'note-1', text: 'Mind it', epic_id: 'e', ...source };
  const state = 'proposed' as const;
  const overlap = { task_id: taskId, other_id: '', level: 'conflict', first_seen_ms: 1 } as const;
  const forecasts = tablesOf(tx).insertInto('forecasts');
  await forecasts.values({ ...overlap, files: '["a"]' }).execute();
  const plan = { task_id: taskId, number: 1, attempt: 1, state, text: 'First, look.' };
  await tablesOf(tx)
    .insertInto('task_plans')
    .values({ ...plan, created_at_ms: 3 })
    .execute();
  await tablesOf(tx)
    .insertInto('notes')
    .values({ ...note, created_at_ms: 3, used_at_ms: 4 })
    .execute();
  const review = {
    task_id: taskId,
    tree_sha: 't',
    attempt: 1,
    agent: 'codex',
    verdict: 'pass',
  } as const;
  await tablesOf(tx)
    .insertInto('reviews')
    .values({ ...review, findings: '[]', criteria: '[]', at_ms: 3 })
    .execute();
  await tablesOf(tx)
    .insertInto('worktrees')
    .values({ task_id: taskId, path: '/w', branch: 'b', ...at })
    .execute();
  await tablesOf(tx)
    .insertInto('slots')
    .values({ path: '/w', number: 1, kind: 'task', ...at })
    .execute();
  await tablesOf(tx)
    .insertInto('machines')
    .values({
      id: 'm1',
      name: 'one',
      labels: '["gpu"]',
      state: 'left',
      agents_max: 2,
      room: 2,
      version: '1',
      joined_at_ms: 3,
      alive_until_ms: 4,
    })
    .execute();
  await tablesOf(tx)
    .insertInto('log_parts')
    .values({ file: 'T/1.ndjson', start: 0, size: 3, text: '{}\n', at_ms: 5 })
    .execute();
  await tablesOf(tx)
    .insertInto('metrics_carried')
    .values({ series: 'a_total', value: 1.5 })
    .execute();
  const idle = { owner: null, owner_until_ms: null, sent_at_ms: 1, error: null, error_at_ms: null };
  await tablesOf(tx)
    .insertInto('exporters')
    .values({ name: 'e', seq: 2, ...idle })
    .execute();
  await tablesOf(tx).insertInto('webhook_cursors').values({ endpoint: 'ci', seq: 4 }).execute();
  const delivery = {
    id: '1-a',
    event: 'task.created',
    body: '{}',
    next_at_ms: 1,
    created_at_ms: 1,
  };
  await tablesOf(tx)
    .insertInto('webhook_deliveries')
    .values({ endpoint: 'ci', seq: 3, state: 'pending', ...delivery })
    .execute();
  await fillForge(tx);
  const over = { state: 'finished', land: 'task' } as const;
  const run = { ...over, started_at_ms: 5, workers: 3, base_sha: 'a' };
  for (const id of ['run-9', 'run-1'])
    await tablesOf(tx)
      .insertInto('runs')
      .values({ id, ...run, target_branch: 'main', line: 'main', flags: '{}' })
      .execute();
  await tablesOf(tx).insertInto('lines').values({ branch: 'main', landed_sha: 'a' }).execute();
  await tablesOf(tx)
    .insertInto('line_tips')
    .values({ branch: 'main', sha: 'a', at_ms: 1 })
    .execute();
  await tablesOf(tx).insertInto('line_gates').values({ line: 'main', gates: '[]' }).execute();
  await tablesOf(tx).insertInto('arrivals').values({ line: 'main', sha: 'b' }).execute();
  await tablesOf(tx)
    .insertInto('line_landers')
    .values({ branch: 'main', machine: 'm1', workflow: 'w', since_ms: 5, ended_ms: 6 })
    .execute();
  await tablesOf(tx)
    .insertInto('landings')
    .values({
      task_id: taskId,
      epoch: 1,
      attempt: 1,
      line: 'main',
      commit_sha: 'c',
      state: 'landed',
      queued_at_ms: 7,
    })
    .execute();
  await tablesOf(tx)
    .insertInto('gate_verdicts')
    .values({
      tree_sha: 't',
      command: 'make',
      ok: 1,
      duration_ms: 9,
      output_tail: 'x\0y',
      at_ms: 3,
    })
    .execute();
  await tablesOf(tx)
    .insertInto('base_gates')
    .values({ line: 'main', state: 'green', asked_ms: 1, since_ms: 1, wait_ms: 0 })
    .execute();
  await tablesOf(tx).insertInto('accounts').values({ name: 'demo' }).execute();
  await tablesOf(tx)
    .insertInto('holds')
    .values({ scope: 'day', reason: 'used up', since_ms: 3 })
    .execute();
}

async function inFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'drover-move-'));
  try {
    await body(folder);
  } finally {
    removeFolder(folder);
  }
}

const unmarked = async (): Promise<void> => {};

suite('moving a project', function () {
  this.timeout(120_000);

  test('a thousand tasks that move there and back are identical', () =>
    inFolder(async (folder) => {
      const databases = await testDatabases();
      const sources = testSources();
      const first = await openStore(join(folder, 'first.db'), sources);
      await fill(first.store, 1_000);
      const before = (await contentOf(first.store.db)).replaceAll('\\u0000', '\ufffd');
      const seen = await shown(first.store.db);
      const filled = JSON.parse(before) as readonly (readonly [string, readonly unknown[]])[];
      assert.deepEqual(
        filled.filter(([, rows]) => rows.length === 0),
        [],
      );
      await withStore(await databases.createWithTables(), async ({ store: moved }) => {
        const there = await moveStore(first.store.db, moved.db, unmarked);
        assert.equal(await contentOf(moved.db), before);
        assert.equal(await shown(moved.db), seen);
        const second = await openStore(join(folder, 'second.db'), sources);
        const back = await moveStore(moved.db, second.store.db, unmarked);
        assert.deepEqual(back, there);
        assert.equal(await contentOf(second.store.db), before);
        assert.equal(await shown(second.store.db), seen);
        await goesOn(moved);
        await goesOn(second.store);
        await second.close();
      });
      assert.equal((await contentOf(first.store.db)).replaceAll('\\u0000', '\ufffd'), before);
      await first.close();
    }));

  test('an empty project moves too', async () => {
    const databases = await testDatabases();
    const first = await openStore(':memory:', testSources());
    await withStore(await databases.createWithTables(), async ({ store }) => {
      const report = await moveStore(first.store.db, store.db, unmarked);
      assert.equal(report.rows, 0);
      await goesOn(store);
    });
    await first.close();
  });

  test('a database that contains something is refused as the target', async () => {
    const databases = await testDatabases();
    const first = await openStore(':memory:', testSources());
    await withStore(await databases.createWithTables(), async ({ store }) => {
      await store.transaction((tx) => addTask(tx, store.sources, { title: 'Here already' }));
      await assert.rejects(
        moveStore(first.store.db, store.db, unmarked),
        /holds tasks already; nothing was changed\. Name an empty one/,
      );
    });
    await first.close();
  });

  test('a project moves back into the database that it was moved away from, with all changes', async () => {
    const databases = await testDatabases();
    const sources = testSources();
    const first = await openStore(':memory:', sources);
    await fill(first.store, 20);
    await withStore(await databases.createWithTables(), async ({ store: moved }) => {
      await moveStore(first.store.db, moved.db, (tx) => markPlanMoved(tx, sources, 'a fleet'));
      assert.equal(await readMovedTo(first.store.db), 'a fleet');
      assert.equal(await readMovedTo(moved.db), null);
      await moved.transaction((tx) => addTask(tx, moved.sources, { title: 'Added there' }));
      const after = await contentOf(moved.db);
      await moveStore(moved.db, first.store.db, (tx) => markPlanMoved(tx, sources, 'a file'));
      assert.equal(await contentOf(first.store.db), after);
      assert.equal(await readMovedTo(first.store.db), null);
      assert.equal(await readMovedTo(moved.db), 'a file');
    });
    await first.close();
  });

  test('a project does not move while work is running', async () => {
    const databases = await testDatabases();
    const first = await openStore(':memory:', testSources());
    await first.store.transaction(async (tx) => {
      const { id } = await addTask(tx, first.store.sources, { title: 'At work' });
      await first.store.transition(tx, { taskId: id, to: 'claimed', event: 'task.claimed' });
    });
    await withStore(await databases.createWithTables(), async ({ store }) => {
      await assert.rejects(
        moveStore(first.store.db, store.db, unmarked),
        /is running; nothing was changed/,
      );
      assert.equal((await tablesOf(store.db).selectFrom('tasks').selectAll().execute()).length, 0);
    });
    await first.close();
  });

  test('nothing remains if the target fails during the move', async () => {
    const databases = await testDatabases();
    const url = await databases.createWithTables();
    const first = await openStore(':memory:', testSources());
    await fill(first.store, 20);
    await databases.run(url, 'alter table holds add constraint none check (false)');
    await withStore(url, async ({ store }) => {
      await assert.rejects(
        moveStore(first.store.db, store.db, unmarked),
        /violates check constraint/,
      );
      for (const { table } of movedTables)
        assert.deepEqual(
          await tablesOf(store.db).selectFrom(table).selectAll().execute(),
          [],
          table,
        );
    });
    await first.close();
  });
});

/** Rows that are added next get the next numbers and come last. */
async function goesOn(store: Store): Promise<void> {
  const last = await store.feed.lastSeq();
  await store.transaction((tx) => addTask(tx, store.sources, { title: 'The next one' }));
  const [event] = await store.feed.read({ after: last });
  assert.equal(event?.seq, last + 1);
  const row = await tablesOf(store.db)
    .selectFrom('tasks')
    .select('title')
    .orderBy('position', 'desc')
    .limit(1)
    .executeTakeFirst();
  assert.equal(row?.title, 'The next one');
}
