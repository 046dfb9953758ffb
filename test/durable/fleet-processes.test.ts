// The fleet adapter's own features: one DBOS per process, takeovers, cut connections, DBOS tools.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import {
  openFleet,
  type OpenedFleet,
  type OpenFleetOptions,
} from '../../server/durable/fleet/open.ts';
import { grantFleetRole } from '../../server/durable/fleet/grants.ts';
import { LostLease } from '../../server/durable/port.ts';
import { removeFolder } from '../remove-folder.ts';
import {
  closeTestPostgres,
  fleetHarness,
  testPostgres,
  type FleetTestTables,
} from './fleet-harness.ts';

type Fleet = OpenedFleet<FleetTestTables>;

interface FleetBench {
  readonly url: string;
  open(options?: Partial<OpenFleetOptions<FleetTestTables>>): Promise<Fleet>;
}

function onFleet(body: (bench: FleetBench) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'drover-fleet-'));
    const url = await fleetHarness.createStore(folder);
    const opened: Fleet[] = [];
    try {
      await body({
        url,
        open: async (options) => {
          const fleet = await openFleet<FleetTestTables>({ url, prepare: false, ...options });
          let closed: Promise<void> | null = null;
          const once = { ...fleet, close: () => (closed ??= fleet.close()) };
          opened.push(once);
          return once;
        },
      });
    } finally {
      for (const fleet of opened) await fleet.close();
      await fleetHarness.dropStore(url);
      removeFolder(folder);
    }
  };
}

/** Resolves once a state has been reached. */
function milestone(): { readonly reached: Promise<void>; readonly reach: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { reached: promise, reach: resolve };
}

const inQueue = { queue: 'q' };

suite('fleet: processes', () => {
  suiteSetup(() => testPostgres());
  suiteTeardown(() => closeTestPostgres());

  test(
    'DBOS is launched once in a process: a second adapter may start and wait, but not launch',
    onFleet(async (bench) => {
      const first = await bench.open();
      const second = await bench.open({ executorId: 'second' });
      first.durable.workflow('echo', async (_run, input) => input);
      second.durable.workflow('echo', async (_run, input) => input);
      await first.durable.launch();
      await assert.rejects(second.durable.launch(), /DBOS runs once in a process/);
      await second.durable.start('echo', 'w1', 1, inQueue);
      assert.equal((await second.durable.wait('w1')).result, 1);
    }),
  );

  test('several processes may open an empty database at the same time', async () => {
    const url = await (await testPostgres()).createDatabase('drover_empty');
    const ids = ['one', 'two', 'three', 'four'];
    const fleets = await Promise.all(ids.map((executorId) => openFleet({ url, executorId })));
    const again = await openFleet({ url, prepare: false });
    await again.durable.start('any', 'w1', null, inQueue);
    const seen = await Promise.all(fleets.map(({ durable }) => durable.get('w1')));
    assert.deepEqual(new Set(seen.map((info) => info?.state)), new Set(['pending']));
    await Promise.all([...fleets, again].map((fleet) => fleet.close()));
    await fleetHarness.dropStore(url);
  });

  test(
    'if many processes detect a dead one at the same time, its work is taken over once',
    onFleet(async (bench) => {
      const ids = Array.from({ length: 8 }, (_, index) => `watcher-${index}`);
      const watchers = await Promise.all(ids.map((executorId) => bench.open({ executorId })));
      const { db } = await bench.open({ executorId: 'starter' });
      const starter = watchers[0]?.durable;
      const count = 20;
      for (let n = 0; n < count; n += 1) await starter?.start('any', `w${n}`, null, inQueue);
      await sql`
        update dbos.workflow_status set status = 'PENDING', executor_id = 'dead', owner_xid = 'old',
          recovery_attempts = 1`.execute(db);
      // Canceling a dead executor's workflow makes every watcher take over at once.
      await Promise.all(watchers.map(({ durable }, n) => durable.cancel(`w${n}`)));
      const { rows } = await sql<{ status: string; count: string }>`
        select status, count(*) from dbos.workflow_status group by status order by status`.execute(
        db,
      );
      assert.deepEqual(rows, [
        { status: 'CANCELLED', count: '8' },
        { status: 'ENQUEUED', count: '12' },
      ]);
    }),
  );

  test(
    'a commit whose claim is lost during its transaction writes nothing',
    onFleet(async (bench) => {
      const { durable, db } = await bench.open();
      const errors: unknown[] = [];
      let tries = 0;
      durable.workflow('note', async (run) => {
        tries += 1;
        if (tries === 1) {
          // Takes over like another process while this one is not checking.
          await sql`
            update dbos.workflow_status set status = 'ENQUEUED', owner_xid = null
            where workflow_uuid = ${run.workflowId}`.execute(db);
        }
        const write = run.commit('write', async (tx) => {
          await tx
            .insertInto('notes')
            .values({ text: `try ${tries}` })
            .execute();
          return tries;
        });
        write.catch((error: unknown) => errors.push(error));
        return write;
      });
      await durable.launch();
      await durable.start('note', 'w1', null, inQueue);
      assert.equal((await durable.wait('w1')).result, 2);
      assert.ok(errors[0] instanceof LostLease);
      const notes = await db.selectFrom('notes').select('text').execute();
      assert.deepEqual(notes, [{ text: 'try 2' }]);
    }),
  );

  test(
    'commit and record write in transactions of the database that the store opened',
    onFleet(async (bench) => {
      const named = { connectionString: bench.url, application_name: 'the store' };
      const pool = new pg.Pool({ ...named, max: 2 });
      // As in the store: the server, whose database is dropped, may end a closing connection.
      pool.on('error', () => undefined);
      pool.on('connect', (client) => client.on('error', () => undefined));
      const bodiesDb = new Kysely<FleetTestTables>({ dialect: new PostgresDialect({ pool }) });
      const { durable } = await bench.open({ bodiesDb });
      const who = async (tx: Kysely<FleetTestTables>): Promise<string | undefined> => {
        const { rows } = await sql<{ name: string }>`
          select current_setting('application_name') as name`.execute(tx);
        return rows[0]?.name;
      };
      durable.workflow('who', async (run) => {
        const seen: unknown[] = [];
        await run.step(
          'one',
          async () => null,
          async (tx) => void seen.push(await who(tx)),
        );
        return [...seen, await run.commit('two', who)];
      });
      await durable.launch();
      await durable.start('who', 'w1', null, inQueue);
      assert.deepEqual((await durable.wait('w1')).result, ['the store', 'the store']);
      await bodiesDb.destroy();
    }),
  );

  test(
    'a takeover waits for a running commit',
    onFleet(async (bench) => {
      const { durable, db } = await bench.open();
      const inside = milestone();
      const mayEnd = milestone();
      durable.workflow('note', async (run) => {
        return run.commit('write', async (tx) => {
          await tx.insertInto('notes').values({ text: 'written' }).execute();
          inside.reach();
          await mayEnd.reached;
          return 'stored';
        });
      });
      await durable.launch();
      await durable.start('note', 'w1', null, inQueue);
      await inside.reached;
      let over = false;
      const takenOver = sql`
        update dbos.workflow_status set status = 'ENQUEUED', owner_xid = null
        where workflow_uuid = 'w1' and status = 'PENDING'`
        .execute(db)
        .then(() => (over = true));
      await waitsForLock(db);
      assert.equal(over, false);
      mayEnd.reach();
      await takenOver;
      assert.equal((await durable.wait('w1')).result, 'stored');
      assert.equal((await db.selectFrom('notes').select('text').execute()).length, 1);
    }),
  );

  test(
    'the engine continues after all its connections are cut',
    onFleet(async (bench) => {
      const { durable, db } = await bench.open();
      durable.workflow('echo', async (run, input) => run.step('one', async () => input));
      await durable.launch();
      const { db: other } = await bench.open({ executorId: 'other' });
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.execute(other);
      await untilAnswered(db);
      await durable.start('echo', 'w1', 1, inQueue);
      assert.equal((await durable.wait('w1')).result, 1);
    }),
  );

  for (const signal of ['SIGINT', 'SIGKILL'] as const) {
    test(
      `a database that ${signal} stopped and that is started again loses nothing`,
      onFleet(async (bench) => {
        const server = await testPostgres();
        const { durable, db } = await bench.open();
        const count = 12;
        const steps = 6;
        const half = milestone();
        const runs = new Map<string, number>();
        durable.queue('q', { perProcess: 4, concurrency: 4 });
        durable.workflow('work', async (run) => {
          for (let n = 1; n <= steps; n += 1) {
            await run.step(
              `s${n}`,
              async () => {
                const name = `${run.workflowId} s${n}`;
                runs.set(name, (runs.get(name) ?? 0) + 1);
                if (runs.size === (count * steps) / 2) half.reach();
              },
              async (tx) => {
                const text = `${run.workflowId} s${n}`;
                await tx.insertInto('notes').values({ text }).execute();
              },
            );
          }
        });
        await durable.launch();
        const ids = Array.from({ length: count }, (_, index) => `w${index}`);
        for (const id of ids) await durable.start('work', id, null, inQueue);
        await half.reached;
        await server.stop(signal);
        await server.start();
        await untilAnswered(db);
        const ends = await Promise.all(ids.map((id) => durable.wait(id)));
        assert.deepEqual(new Set(ends.map(({ state }) => state)), new Set(['succeeded']));
        const notes = await db.selectFrom('notes').select('text').execute();
        assert.equal(notes.length, count * steps);
        assert.equal(new Set(notes.map(({ text }) => text)).size, count * steps);
      }),
    );
  }

  test(
    'the engine closes while the database is unreachable, and resumes its running workflows later',
    onFleet(async (bench) => {
      const server = await testPostgres();
      const first = await bench.open({ takeOverAfterMs: 5_000 });
      const inside = milestone();
      first.durable.workflow('work', async (run) => {
        await run.step('a', async () => 'a');
        await run.step('b', async (signal) => {
          inside.reach();
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        });
      });
      await first.durable.launch();
      await first.durable.start('work', 'w1', null, inQueue);
      await inside.reached;
      await server.stop('SIGINT');
      await first.close();
      await server.start();
      const { durable } = await bench.open({ executorId: 'next' });
      durable.workflow('work', async (run) => run.step('a', async () => 'again'));
      await durable.launch();
      assert.equal((await durable.wait('w1')).result, 'a');
    }),
  );

  test(
    'the engine resumes a workflow that DBOS itself canceled and resumed',
    onFleet(async (bench) => {
      const { durable, db } = await bench.open();
      const ran: string[] = [];
      const hangs = milestone();
      durable.workflow('slow', async (run) => {
        await run.step('a', async () => void ran.push('a'));
        await run.step('b', (signal) => {
          ran.push('b');
          if (ran.length > 2) return Promise.resolve();
          hangs.reach();
          return new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          });
        });
        return 'done';
      });
      await durable.launch();
      await durable.start('slow', 'w1', null, inQueue);
      await hangs.reached;
      // The statements of its client, its command line and its console.
      await sql`
        update dbos.workflow_status set status = 'CANCELLED', owner_xid = null, queue_name = null,
          started_at_epoch_ms = null where workflow_uuid = 'w1'`.execute(db);
      assert.equal((await durable.wait('w1')).state, 'cancelled');
      await sql`
        update dbos.workflow_status set status = 'ENQUEUED', owner_xid = null,
          queue_name = '_dbos_internal_queue', recovery_attempts = 0 where workflow_uuid = 'w1'`.execute(
        db,
      );
      assert.equal((await durable.wait('w1')).result, 'done');
      assert.deepEqual(ran, ['a', 'b', 'b']);
    }),
  );

  test(
    'a role that can only read and write rows is enough for a worker',
    onFleet(async (bench) => {
      const { db } = await bench.open({ executorId: 'owner' });
      const database = new URL(bench.url).pathname.slice(1);
      const role = `worker_${database}`;
      await sql`create role ${sql.id(role)} login`.execute(db);
      await grantFleetRole(db as never, { role, database, storeSchema: 'public' });
      const url = new URL(bench.url);
      url.username = role;
      const { durable, db: asWorker } = await bench.open({ url: url.href });
      await assert.rejects(sql`create schema mine`.execute(asWorker), /permission denied/);
      await assert.rejects(
        sql`drop table drover_durable.steps`.execute(asWorker),
        /must be owner of table/,
      );
      durable.workflow('note', async (run, input) => {
        await run.step('one', async () => input);
        return run.commit('two', async (tx) => {
          await tx.insertInto('notes').values({ text: 'written' }).execute();
          return 'stored';
        });
      });
      await durable.launch();
      await durable.start('note', 'w1', null, inQueue);
      assert.equal((await durable.wait('w1')).result, 'stored');
      await durable.cancel('w1');
      await durable.resume('w1');
      await durable.forget(0);
      await sql`drop owned by ${sql.id(role)}`.execute(db);
    }),
  );

  test(
    'the engine leaves work with another compatibility number alone',
    onFleet(async (bench) => {
      const newer = await bench.open({ executorId: 'newer', applicationVersion: 'drover-2' });
      const { durable } = await bench.open();
      durable.workflow('echo', async (_run, input) => input);
      await durable.launch();
      await newer.durable.start('echo', 'w1', 1, inQueue);
      await durable.start('echo', 'w2', 2, inQueue);
      assert.equal((await durable.wait('w2')).result, 2);
      assert.equal((await durable.get('w1'))?.state, 'pending');
      await newer.durable.start('echo', 'w3', 3, { ...inQueue, isForAnyRelease: true });
      const free = await durable.wait('w3');
      assert.deepEqual([free.result, free.compatibility], [3, null], 'but what any release can do');
    }),
  );
});

async function waitsForLock(db: Fleet['db']): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ waiting: string }>`
      select count(*) as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    if (rows[0]?.waiting !== '0') return;
  }
}

async function untilAnswered(db: Fleet['db'], tries = 500): Promise<void> {
  await sql`select 1`.execute(db).catch((error: unknown) => {
    if (tries === 1) throw error;
    return untilAnswered(db, tries - 1);
  });
}
