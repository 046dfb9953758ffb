// Opening a database: the first process creates Drover's tables once, and tables of others are left
// alone.

import assert from 'node:assert/strict';
import { sql } from 'kysely';
import { schemaVersion } from '../../server/store/schema/schema.ts';
import { forPostgres } from '../../server/store/postgres/tables.ts';
import { openStore } from '../../server/store/open.ts';
import { testSources } from '../unit/store/memory-store.ts';
import { testDatabases, withStore } from './databases.ts';
import { isTrouble } from './troubles.ts';
import { tablesOf } from '../tables.ts';

suite('postgres: opening', function () {
  this.timeout(60_000);

  test('it creates the tables once, however many processes open the database at the same time', async () => {
    const databases = await testDatabases();
    const url = await databases.create();
    await Promise.all(
      Array.from({ length: 5 }, () =>
        withStore(url, async ({ store }) => {
          assert.deepEqual(await tablesOf(store.db).selectFrom('tasks').selectAll().execute(), []);
        }),
      ),
    );
    const { rows } = await databases.run(url, 'select version from drover_schema');
    assert.deepEqual(rows, [{ version: String(schemaVersion) }]);
  });

  test('the tables and columns are those of a SQLite file, plus row numbers', async () => {
    const databases = await testDatabases();
    const url = await databases.createWithTables();
    const sqlite = await openStore(':memory:', testSources());
    const columnsOf = (tables: readonly { name: string; columns: readonly { name: string }[] }[]) =>
      tables
        .filter(({ name }) => !['workflows', 'workflow_steps', 'drover_schema'].includes(name))
        .map(
          ({ name, columns }) => [name, columns.map((column) => column.name).toSorted()] as const,
        )
        .toSorted(([a], [b]) => (a < b ? -1 : 1));
    const expected = columnsOf(await sqlite.store.db.introspection.getTables());
    await sqlite.close();
    await withStore(url, async ({ store }) => {
      const found = columnsOf(await store.db.introspection.getTables());
      const numbered = expected.map(
        ([name, columns]) =>
          [
            name,
            name === 'tasks' || name === 'runs' ? [...columns, 'rowid'].toSorted() : columns,
          ] as const,
      );
      assert.deepEqual(found, numbered);
    });
  });

  test('integers, sums and counts are returned as numbers', async () => {
    const databases = await testDatabases();
    await withStore(await databases.createWithTables(), async ({ store }) => {
      const { rows } = await sql`
        select 1::bigint as one, ${1_800_000_000_000}::bigint as ms, sum(n) as total, count(*) as n,
          2.5::double precision as half
        from (values (1::bigint), (2::bigint)) as v(n)`.execute(store.db);
      assert.deepEqual(rows, [{ one: 1, ms: 1_800_000_000_000, total: 3, n: 2, half: 2.5 }]);
    });
  });

  test('texts are compared by their bytes, and a zero character is accepted', async () => {
    const databases = await testDatabases();
    await withStore(await databases.createWithTables(), async ({ store }) => {
      const names = ['b', 'B', 'a', 'ä', 'A', '_', 'zero\0here'];
      for (const name of names)
        await tablesOf(store.db).insertInto('accounts').values({ name }).execute();
      const rows = await tablesOf(store.db)
        .selectFrom('accounts')
        .select('name')
        .orderBy('name')
        .execute();
      assert.deepEqual(
        rows.map((row) => row.name),
        ['A', 'B', '_', 'a', 'b', 'zero\ufffdhere', 'ä'],
      );
    });
  });

  test('a newer schema is refused, and nothing is changed', async () => {
    const databases = await testDatabases();
    const url = await databases.createWithTables();
    await databases.run(url, `update drover_schema set version = ${schemaVersion + 1}`);
    await assert.rejects(
      withStore(url, async () => undefined),
      isTrouble('newer_schema', `version ${schemaVersion + 1}`, 'Update Drover', 'nothing was'),
    );
    const { rows } = await databases.run(url, 'select version from drover_schema');
    assert.deepEqual(rows, [{ version: String(schemaVersion + 1) }]);
  });

  test('tables of another program are left alone', async () => {
    const databases = await testDatabases();
    const url = await databases.create();
    await databases.run(url, 'create table tasks (id int)');
    await assert.rejects(
      withStore(url, async () => undefined),
      isTrouble('foreign_tables', 'tasks', 'its own database or schema'),
    );
    const { rows } = await databases.run(
      url,
      `select tablename from pg_tables where schemaname = 'public'`,
    );
    assert.deepEqual(rows, [{ tablename: 'tasks' }]);
  });

  test('a schema change that fails leaves nothing behind', async () => {
    const databases = await testDatabases();
    const url = await databases.create();
    await databases.run(url, 'create table holds (id int)');
    await assert.rejects(
      withStore(url, async () => undefined),
      /holds/,
    );
    const { rows } = await databases.run(
      url,
      `select tablename from pg_tables where schemaname = 'public'`,
    );
    assert.deepEqual(rows, [{ tablename: 'holds' }]);
  });

  test('two projects in two schemas of one database do not interfere', async () => {
    const databases = await testDatabases();
    const url = await databases.create();
    await databases.run(url, 'create schema one', 'create schema two');
    const inSchema = (name: string): string => `${url}?options=-csearch_path%3D${name}`;
    await withStore(inSchema('one'), async ({ store: one }) => {
      await withStore(inSchema('two'), async ({ store: two }) => {
        await one.transaction((tx) => one.append(tx, { type: 'only.one' }));
        assert.equal(await one.feed.lastSeq(), 1);
        assert.equal(await two.feed.lastSeq(), 0);
      });
    });
  });

  const translations: readonly (readonly [string, string])[] = [
    [
      'CREATE TABLE a (seq INTEGER PRIMARY KEY AUTOINCREMENT, b TEXT NOT NULL) WITHOUT ROWID',
      'CREATE TABLE a (seq BIGINT PRIMARY KEY, b TEXT COLLATE "C" NOT NULL)',
    ],
    ['ALTER TABLE a ADD COLUMN text REAL', 'ALTER TABLE a ADD COLUMN text DOUBLE PRECISION'],
    ['CREATE INDEX a ON b(integer_of)', 'CREATE INDEX a ON b(integer_of)'],
  ];
  for (const [given, expected] of translations) {
    test(`a statement is translated for PostgreSQL: ${given}`, () => {
      assert.equal(forPostgres(given), expected);
    });
  }
});
