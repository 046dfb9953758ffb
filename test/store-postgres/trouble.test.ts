// Problems of servers, roles and disks: each error names the place and the remedy, no message
// contains the password, and the same store continues to work afterwards.

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import type { Store, Tx } from '../../server/store/port.ts';
import type { StoreTables } from '../../server/store/schema/tables.ts';
import { unfit, type PostgresFacts } from '../../server/store/postgres/migrate.ts';
import { openPostgresStore } from '../../server/store/postgres/open.ts';
import { parseDatabaseUrl } from '../../server/store/postgres/database-url.ts';
import { postgresError, PostgresRefusal } from '../../server/store/postgres/trouble.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { testSources } from '../unit/store/memory-store.ts';
import { closedPort, onSmallDisk, stallingProxy } from './bad-surroundings.ts';
import {
  appended,
  appendedIn,
  run,
  testDatabases,
  type TestDatabases,
  withStore,
} from './databases.ts';
import { isTrouble } from './troubles.ts';

const secret = 'a-very-secret-word';

const open = (url: string): Promise<void> => withStore(url, async () => undefined);
const append = (store: Store, data: Record<string, unknown> = {}): Promise<number> =>
  appended(store, { type: 'news', data });

/** The server process that serves this connection. */
async function processOf(tx: Tx): Promise<number> {
  const asked = sql<{ pid: number }>`select pg_backend_pid() as pid`;
  const { rows } = await asked.execute(tx as unknown as Kysely<StoreTables>);
  return rows[0]?.pid ?? assert.fail('it has a process');
}

/** Works also for a process whose parent is dead. */
function hasEnded(pid: number): boolean {
  try {
    return /^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true;
  }
}

suite('postgres: failures', function () {
  this.timeout(60_000);

  const badUrls: readonly (readonly [string, string])[] = [
    ['mysql://a@b/c', 'does not start with postgresql://'],
    [`postgresql://a:${secret}@host:99999999/c`, 'cannot be read'],
    [`postgresql://a:${secret}@host/c?sslrootcert=/none/ca.pem`, '/none/ca.pem cannot be read'],
  ];
  for (const [url, words] of badUrls) {
    test(`an invalid URL is reported: ${words}`, () => {
      assert.throws(() => parseDatabaseUrl(url), isTrouble('bad_url', words, 'Write it as'));
      assert.throws(
        () => parseDatabaseUrl(url),
        (error: Error) => !error.message.includes(secret),
      );
    });
  }

  test('a server that does not answer is reported', async () => {
    const port = await closedPort();
    await assert.rejects(
      open(`postgresql://drover:${secret}@127.0.0.1:${port}/x`),
      isTrouble('unreachable', `127.0.0.1:${port}`, 'Start it', 'ECONNREFUSED'),
    );
    await assert.rejects(
      open('postgresql://drover@no-such-host.invalid/x?sslmode=disable'),
      isTrouble('unreachable', 'no-such-host.invalid:5432'),
    );
  });

  test('a server that accepts the connection but never answers is reported', async () => {
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    assert.ok(typeof address === 'object' && address !== null);
    await assert.rejects(
      openPostgresStore(`postgresql://a@127.0.0.1:${address.port}/x`, testSources(), {
        connectMaxMs: 300,
      }),
      isTrouble('unreachable', 'timeout'),
    );
    silent.close();
  });

  test('a server that vanishes silently during a run is reported in time, and the store continues', async () => {
    const { server, createWithTables } = await testDatabases();
    const proxy = await stallingProxy(server.port);
    const url = (await createWithTables()).replace(`:${server.port}`, `:${proxy.port}`);
    await withStore(
      url,
      async ({ store }) => {
        await append(store);
        proxy.stall();
        await assert.rejects(store.feed.lastSeq(), isTrouble('slow', 'did not answer in time'));
        proxy.goOn();
        assert.equal(await store.feed.lastSeq(), 1);
        assert.equal(await append(store), 2);
      },
      { connectionsMax: 1, statementMaxMs: 3_000 },
    );
    proxy.close();
  });

  test('a missing database is reported', async () => {
    const databases = await testDatabases();
    await assert.rejects(
      open(databases.server.url('nowhere')),
      isTrouble('no_database', '"nowhere"', 'CREATE DATABASE "nowhere"'),
    );
  });

  test('a wrong password and a missing password are reported', async () => {
    const databases = await testDatabases();
    const url = await databases.createWithTables();
    const as = await withPasswords(databases, url);
    await assert.rejects(open(as('guarded', 'wrong')), isTrouble('password', '"guarded"', 'Check'));
    await assert.rejects(open(as('guarded', '')), isTrouble('password', '"guarded"'));
    await assert.rejects(open(as('nobody', secret)), isTrouble('password', '"nobody"'));
    await assert.rejects(
      open(as('guarded', `${secret}-wrong`)),
      (error: Error) => !`${error.message} ${String(error.stack)}`.includes(secret),
    );
  });

  test('a role without privileges is reported, and a role with the minimum works', async () => {
    const databases = await testDatabases();
    const url = await databases.create();
    await databases.run(
      url,
      'create role guest login',
      'revoke create on schema public from public',
    );
    const asGuest = url.replace('drover@', 'guest@');
    await assert.rejects(open(asGuest), isTrouble('forbidden', '"guest"', 'CREATE SCHEMA "guest"'));
    await databases.run(url, 'create schema guest authorization guest');
    await withStore(asGuest, async ({ store }) => assert.equal(await append(store), 1));
    const { rows } = await databases.run(
      url,
      `select distinct schemaname as name from pg_tables where schemaname in ('public', 'guest')`,
    );
    assert.deepEqual(rows, [{ name: 'guest' }]);
  });

  test("a role that may not read Drover's tables is reported", async () => {
    const databases = await testDatabases();
    const url = await databases.createWithTables();
    await databases.run(url, 'create role stranger login');
    await assert.rejects(
      open(url.replace('drover@', 'stranger@')),
      isTrouble('forbidden', '"stranger"', 'owner'),
    );
  });

  const fit: PostgresFacts = {
    serverVersion: 140_000,
    isStandby: false,
    encoding: 'UTF8',
    schema: 'public',
    mayCreate: true,
    schemaVersion: 0,
    hasForeignTables: false,
  };
  const words = { shown: 'postgresql://a@h:1/d', host: 'h:1', database: 'd', user: 'a' };
  const unfits: readonly (readonly [Partial<PostgresFacts>, string, string])[] = [
    [{ serverVersion: 130_014 }, 'too_old', 'version 13.14, Drover needs 14 or newer'],
    [{ encoding: 'SQL_ASCII' }, 'encoding', "ENCODING 'UTF8'"],
    [{ isStandby: true }, 'standby', 'primary server'],
    [{ mayCreate: false }, 'forbidden', 'may not create tables'],
    [{ schema: null, mayCreate: false }, 'forbidden', 'CREATE SCHEMA "a"'],
    [{ schemaVersion: 9_999 }, 'newer_schema', 'Update Drover'],
  ];
  for (const [facts, name, sentence] of unfits) {
    test(`an unsuitable server is refused: ${name}, ${JSON.stringify(facts)}`, () => {
      const trouble = unfit({ ...fit, ...facts }, words);
      assert.ok(isTrouble(name, sentence)(trouble));
      assert.equal(trouble?.retryable, false);
    });
  }
  test('a suitable server is accepted', () => assert.equal(unfit(fit, words), null));

  test('other errors are passed on unchanged', () => {
    const error = Object.assign(new Error('duplicate key'), { code: '23505' });
    assert.equal(postgresError(error, words), error);
    assert.equal(postgresError('text', words), 'text');
  });

  test('a lack of free connections is reported, and ends when one is free', async () => {
    const databases = await testDatabases();
    const url = await databases.createWithTables();
    await withStore(
      url,
      async ({ store }) => {
        const held = Promise.withResolvers<void>();
        const release = Promise.withResolvers<void>();
        const holding = store.transaction(async () => {
          held.resolve();
          await release.promise;
        });
        await held.promise;
        await assert.rejects(store.feed.lastSeq(), isTrouble('connections', 'pools'));
        release.resolve();
        await holding;
        assert.equal(await store.feed.lastSeq(), 0);
      },
      { connectionsMax: 1, connectMaxMs: 3_000 },
    );
  });

  test('the database is dropped during a run, and restored from a backup', async () => {
    const databases = await testDatabases();
    const url = await databases.createWithTables();
    await withStore(url, async ({ store }) => {
      await append(store);
      const name = new URL(url).pathname.slice(1);
      const admin = databases.server.url('postgres');
      await databases.run(
        admin,
        // The store is available again at once, but not before the database has gone.
        `alter database ${name} with allow_connections false`,
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
        `alter database ${name} rename to ${name}_away`,
      );
      await rejectsUntil(() => append(store), 'no_database');
      await databases.run(
        admin,
        `alter database ${name}_away rename to ${name}`,
        `alter database ${name} with allow_connections true`,
      );
      assert.equal(await append(store), 2);
    });
  });

  test('reads and writes continue after the tables get another column', async () => {
    const databases = await testDatabases();
    const url = await databases.createWithTables();
    await withStore(
      url,
      async ({ store }) => {
        const read = (): Promise<unknown> => store.feed.read({});
        await append(store);
        await read();
        await databases.run(url, `alter table events add column more text default 'm'`);
        await read();
        assert.equal(await append(store), 2);
      },
      { connectionsMax: 1 },
    );
  });

  test('the tables are dropped during a run', async () => {
    const databases = await testDatabases();
    const url = await databases.createWithTables();
    await withStore(url, async ({ store }) => {
      await databases.run(url, 'drop table events');
      await assert.rejects(append(store), isTrouble('not_set_up', 'restore a backup'));
    });
  });

  test('if the server is killed during a transaction, it is all or nothing, and the same store continues', async () => {
    await withOwnServer(async (server) =>
      withStore(await server.createDatabase('killed'), async ({ store }) => {
        await append(store);
        await assert.rejects(
          store.transaction(async (tx) => {
            await appendedIn(store, tx, { type: 'never' });
            const pid = await processOf(tx);
            await server.stop('SIGKILL');
            // The store notices the end of its server by itself, while it waits for a statement.
            await eventually('its process has ended', () => hasEnded(pid));
            await store.append(tx, { type: 'never either' });
          }),
          isTrouble('lost'),
        );
        await rejectsUntil(() => store.feed.lastSeq(), 'unreachable');
        await server.start();
        const seq = await append(store);
        const events = await store.feed.read({});
        assert.deepEqual(
          events.map((event) => event.seq),
          [1, seq],
        );
      }),
    );
  });

  test('a full disk rolls the transaction back, and it works again once there is space', async () => {
    await onSmallDisk((disk) =>
      withOwnServer(async (server) => {
        await run(
          server.url('postgres'),
          `create tablespace small location '${disk}'`,
          'create database on_small tablespace small',
        );
        await withStore(server.url('on_small'), async ({ store }) => {
          await append(store);
          const ballast = join(disk, 'ballast');
          writeFileSync(ballast, Buffer.alloc(4 * 1024 * 1024));
          await assert.rejects(
            store.transaction(async (tx) => {
              for (let n = 0; n < 200; n += 1) {
                const data = { noise: randomBytes(400_000).toString('base64') };
                await store.append(tx, { type: 'large', data });
              }
            }),
            isTrouble('full', 'is full', 'Free some'),
          );
          assert.equal((await store.feed.read({})).length, 1);
          rmSync(ballast);
          await append(store);
          assert.equal((await store.feed.read({})).length, 2);
        });
      }),
    );
  });

  test('temporary errors are distinguished from errors that need a person', () => {
    const retryable = ['unreachable', 'lost', 'starting', 'full', 'connections', 'busy', 'slow'];
    for (const [code, name] of [
      ['53100', 'full'],
      ['28P01', 'password'],
      ['57P03', 'starting'],
      ['08006', 'lost'],
      ['42501', 'forbidden'],
    ] as const) {
      const told = postgresError(Object.assign(new Error('x'), { code }), words);
      assert.ok(told instanceof PostgresRefusal);
      assert.equal(told.trouble, name);
      assert.equal(told.retryable, retryable.includes(name));
      assert.equal(told.kind, 'database');
    }
  });
});

/** A server that may be killed or filled without harm to other tests. */
async function withOwnServer(body: (server: PostgresServer) => Promise<void>): Promise<void> {
  const server = await startPostgres();
  try {
    await body(server);
  } finally {
    await server.close();
  }
}

/** A lost connection is reported once, and then its cause. */
async function rejectsUntil(body: () => Promise<unknown>, name: string): Promise<void> {
  const triesMax = 20;
  const seen: string[] = [];
  for (let tries = 0; tries < triesMax; tries += 1) {
    const error = await body().then(
      () => null,
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof PostgresRefusal, String(error));
    if (error.trouble === name) return;
    seen.push(error.trouble);
  }
  assert.fail(`never ${name}, but ${seen.join(', ')}`);
}

/** From now on the server asks one role for a password; returns its URLs. */
async function withPasswords(
  databases: TestDatabases,
  url: string,
): Promise<(role: string, password: string) => string> {
  const { rows } = await databases.run(url, 'show hba_file');
  const file = String((rows[0] as { hba_file: string }).hba_file);
  await databases.run(
    url,
    `create role guarded login password '${secret}'`,
    `copy (values ('host all guarded,nobody 127.0.0.1/32 scram-sha-256'), ('host all all 127.0.0.1/32 trust')) to '${file}'`,
    'select pg_reload_conf()',
  );
  return (role, password) => {
    const made = new URL(url);
    made.username = role;
    made.password = password;
    return made.href;
  };
}
