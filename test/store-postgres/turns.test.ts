// Several processes write at once: one of them wins each race, and a reader of the events misses
// none.

import assert from 'node:assert/strict';
import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import { claimTask } from '../../server/store/work/claims.ts';
import type { Store } from '../../server/store/port.ts';
import type { StoreTables } from '../../server/store/schema/tables.ts';
import { openPostgresStore, type OpenedPostgresStore } from '../../server/store/postgres/open.ts';
import { addTasks, testSources } from '../unit/store/memory-store.ts';
import { appended, appendedIn, testDatabases } from './databases.ts';
import { isTrouble } from './troubles.ts';
import { tablesOf } from '../tables.ts';

/** Each process has separate connections, as on a separate machine. */
async function openSeveral(url: string, count: number): Promise<readonly OpenedPostgresStore[]> {
  return Promise.all(
    Array.from({ length: count }, () =>
      openPostgresStore(url, testSources(), { connectionsMax: 4 }),
    ),
  );
}

async function onMachines(
  count: number,
  body: (machines: readonly OpenedPostgresStore[], url: string) => Promise<void>,
): Promise<void> {
  const databases = await testDatabases();
  const url = await databases.createWithTables();
  const machines = await openSeveral(url, count);
  try {
    await body(machines, url);
  } finally {
    await Promise.all(machines.map((machine) => machine.close()));
  }
}

function claim(store: Store, taskId: string, owner: string): Promise<unknown> {
  return store.transaction((tx) =>
    claimTask(tx, store.sources, {
      machine: '',
      taskId,
      runId: 'run',
      owner,
      agent: 'demo',
      model: null,
      step: 0,
      agentResumes: false,
      plansFirst: false,
      sessionId: `session-${owner}`,
    }),
  );
}

suite('postgres: taking turns', function () {
  this.timeout(60_000);

  test('if several claim a task at once, exactly one gets it', () =>
    onMachines(3, async (machines) => {
      const [first] = machines;
      assert.ok(first !== undefined);
      const project = { ...first, sources: testSources() };
      const titles = Array.from({ length: 12 }, (_, index) => `T${index}`);
      const ids = await addTasks(
        project,
        titles.map((title) => ({ title })),
      );
      for (const id of Object.values(ids)) {
        const claims = await Promise.all(
          machines.map(({ store }, index) => claim(store, id, `machine-${index}`)),
        );
        assert.equal(claims.filter((won) => won !== null).length, 1, id);
      }
      const rows = await tablesOf(first.store.db)
        .selectFrom('attempts')
        .select('task_id')
        .execute();
      assert.equal(rows.length, titles.length);
      const events = await first.store.feed.read({ type: 'task.claimed' });
      assert.equal(events.length, titles.length);
    }));

  test('a dependent becomes ready when its two blockers are completed at the same time', () =>
    onMachines(2, async (machines) => {
      const [one, two] = machines;
      assert.ok(one !== undefined && two !== undefined);
      const project = { ...one, sources: testSources() };
      for (let round = 0; round < 5; round += 1) {
        const ids = await addTasks(project, [
          { title: 'A' },
          { title: 'B' },
          { title: 'C', blocked_by: ['A', 'B'] },
        ]);
        const complete = ({ store }: OpenedPostgresStore, id = ''): Promise<void> =>
          store.transaction(async (tx) => {
            for (const to of ['claimed', 'in_progress', 'completed'] as const)
              await store.transition(tx, { taskId: id, to, event: `task.${to}` });
          });
        await Promise.all([complete(one, ids['A']), complete(two, ids['B'])]);
        const row = await tablesOf(one.store.db)
          .selectFrom('tasks')
          .select('status')
          .where('id', '=', ids['C'] ?? '')
          .executeTakeFirst();
        assert.equal(row?.status, 'ready');
      }
    }));

  test('a reader of the feed misses no event, whoever writes and for however long', () =>
    onMachines(4, async (machines, url) => {
      const [reader, ...writers] = machines;
      assert.ok(reader !== undefined);
      const seen: number[] = [];
      let isWriting = true;
      const reading = (async (): Promise<void> => {
        for (let last = false; ; last = !isWriting) {
          const events = await reader.store.feed.read({ after: seen.at(-1) ?? 0 });
          seen.push(...events.map((event) => event.seq));
          if (last) return;
        }
      })();
      const write = async ({ store }: OpenedPostgresStore, writer: number): Promise<void> => {
        for (let n = 0; n < 25; n += 1) {
          const written = store.transaction(async (tx) => {
            await store.append(tx, { type: 'one' });
            await sql`select pg_sleep(${((n + writer) % 4) / 500}::double precision)`.execute(tx);
            await store.append(tx, { type: 'two' });
            if (n % 5 === 4) throw new Error('undone');
          });
          await written.catch((error: Error) => assert.equal(error.message, 'undone'));
        }
      };
      await Promise.all([...writers.map(write), writeWithoutStore(url)]);
      isWriting = false;
      await reading;
      const all = await reader.store.feed.read({});
      assert.equal(all.length, 3 * 20 * 2 + 25);
      assert.deepEqual(
        seen,
        all.map((event) => event.seq),
      );
    }));

  test('a turn that does not come in time is reported, and comes later', () =>
    onMachines(0, async (_, url) => {
      const holder = await openPostgresStore(url, testSources(), {
        idleInTransactionMaxMs: 60_000,
      });
      const waiter = await openPostgresStore(url, testSources(), { statementMaxMs: 4_000 });
      const held = Promise.withResolvers<void>();
      const release = Promise.withResolvers<void>();
      const holding = holder.store.transaction(async (tx) => {
        await sql`select 1`.execute(tx);
        held.resolve();
        await release.promise;
      });
      await held.promise;
      const write = (): Promise<number> => appended(waiter.store, { type: 'late' });
      await assert.rejects(write(), isTrouble('busy', 'Try again'));
      // Readers do not wait.
      assert.equal(await waiter.store.feed.lastSeq(), 0);
      release.resolve();
      await holding;
      assert.equal(await write(), 1);
      await Promise.all([holder.close(), waiter.close()]);
    }));

  test('a failing query among others rolls the turn back', () =>
    onMachines(1, async ([machine]) => {
      assert.ok(machine !== undefined);
      const { store } = machine;
      const failing = store.transaction(async (lent) => {
        const tx = lent as unknown as Kysely<StoreTables>;
        await store.append(lent, { type: 'undone' });
        const words = ['select 1', 'select 1 / 0', 'select 2'];
        await Promise.all(words.map((text) => sql.raw(text).execute(tx)));
      });
      await assert.rejects(failing, /division by zero/);
      await appended(store, { type: 'next' });
      const events = await store.feed.read({});
      assert.deepEqual(
        events.map(({ type }) => type),
        ['next'],
      );
    }));

  test('a failure that the body catches still rolls the turn back, and the commit names the reason', () =>
    onMachines(1, async ([machine]) => {
      assert.ok(machine !== undefined);
      const { store } = machine;
      for (const text of ['select 1 / 0', 'update epics set position = 1 / 0 returning id']) {
        await appended(store, { type: 'before' });
        const before = await store.feed.lastSeq();
        const failing = store.transaction(async (lent) => {
          const tx = lent as unknown as Kysely<StoreTables>;
          await store.append(lent, { type: 'undone' });
          await tx
            .insertInto('epics')
            .values({ id: 'E', title: 'x', position: 1, created_at: 1 })
            .execute();
          await sql
            .raw(text)
            .execute(tx)
            .catch(() => undefined);
          await store.append(lent, { type: 'undone too' });
        });
        await assert.rejects(failing, /division by zero/);
        assert.equal(await store.feed.lastSeq(), before);
      }
    }));

  test('a write that was not awaited rolls its turn back, and the commit names the reason', () =>
    onMachines(1, async ([machine]) => {
      assert.ok(machine !== undefined);
      const { store } = machine;
      const failing = store.transaction(async (tx) => {
        await store.append(tx, { type: 'undone' });
        await sql`select 1`.execute(tx);
        const twice = { id: 'E', title: 'Twice', position: 1, created_at: 1 };
        await (tx as unknown as Kysely<StoreTables>).insertInto('epics').values(twice).execute();
        await (tx as unknown as Kysely<StoreTables>).insertInto('epics').values(twice).execute();
        await store.append(tx, { type: 'undone too' });
      });
      await assert.rejects(failing, /duplicate key value/);
      assert.equal(await store.feed.lastSeq(), 0);
      await appended(store, { type: 'next' });
    }));

  test('a turn sees its own writes, even after an earlier read', () =>
    onMachines(1, async ([machine]) => {
      assert.ok(machine !== undefined);
      const { store } = machine;
      await store.transaction(async (lent) => {
        const tx = lent as unknown as Kysely<StoreTables>;
        const titles = async (): Promise<readonly string[]> => {
          const rows = await tx.selectFrom('epics').select('title').orderBy('id').execute();
          return rows.map(({ title }) => title);
        };
        assert.deepEqual(await titles(), []);
        await tx
          .insertInto('epics')
          .values({ id: 'E', title: 'One', position: 1, created_at: 1 })
          .execute();
        assert.deepEqual(await titles(), ['One']);
        await store.append(lent, { type: 'between' });
        await tx.updateTable('epics').set({ title: 'Two' }).where('id', '=', 'E').execute();
        assert.deepEqual(await titles(), ['Two']);
        await sql`update epics set title = 'Three'`.execute(tx);
        assert.deepEqual(await titles(), ['Three']);
        await tx.deleteFrom('epics').execute();
        assert.deepEqual(await titles(), []);
      });
    }));

  test('a machine that disappears during a transaction loses its turn', () =>
    onMachines(1, async (machines, url) => {
      const [machine] = machines;
      assert.ok(machine !== undefined);
      const gone = await openPostgresStore(url, testSources(), { idleInTransactionMaxMs: 3_000 });
      const never = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      const lost = gone.store.transaction(async (tx) => {
        await appendedIn(gone.store, tx, { type: 'never' });
        held.resolve();
        await never.promise;
        await gone.store.append(tx, { type: 'never either' });
      });
      await held.promise;
      assert.equal(await appended(machine.store, { type: 'next' }), 2);
      never.resolve();
      await assert.rejects(lost, isTrouble('lost'));
      const events = await machine.store.feed.read({});
      assert.deepEqual(
        events.map((event) => event.type),
        ['next'],
      );
      await gone.close();
    }));
});

/**
 * Transactions of another program at PostgreSQL's strictest level: the rule about numbers holds for
 * them too.
 */
async function writeWithoutStore(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (let n = 0; n < 25; n += 1) {
    await client.query('begin isolation level serializable');
    await client.query(
      `insert into events (id, type, timestamp, at_ms, data) values ('x', 'foreign', 1, 1, '{}')`,
    );
    await client.query(`select pg_sleep(0.002)`);
    await client.query('commit');
  }
  await client.end();
}
