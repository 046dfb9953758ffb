// The migration runner: a migration is applied whole or not at all, after a backup, and safely
// among processes.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { migrate, type MigrateOutcome } from '../../server/store/sqlite/migrate.ts';
import { openSqlite } from '../../server/store/sqlite/open.ts';
import { startSqliteChild } from './child-process.ts';
import { bytesOf, countNotes, inFolder, isRefusal, makeNotes } from './folder.ts';
import { notesMigrations } from './notes-migrations.ts';

async function migrateFile(path: string, version: number): Promise<MigrateOutcome> {
  const opened = openSqlite(path);
  try {
    return await migrate(opened, notesMigrations(version));
  } finally {
    await opened.close();
  }
}

async function schemaOf(path: string): Promise<string> {
  const opened = openSqlite(path, { readOnly: true });
  const { rows } = await sql<{ sql: string }>`
    select sql from sqlite_schema where sql is not null order by name`.execute(opened.db);
  const version = opened.raw.prepare('pragma user_version').get();
  await opened.close();
  return JSON.stringify([Object.values(version ?? {}), rows.map((row) => row.sql)]);
}

suite('sqlite: migrations', () => {
  test('a new file gets the newest schema, without a copy', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a.db');
      assert.deepEqual(await migrateFile(path, 3), { from: 0, to: 3, backup: null });
      assert.deepEqual(await migrateFile(path, 3), { from: 3, to: 3, backup: null });
      assert.deepEqual(readdirSync(folder), ['a.db']);
    }));

  test('an in-memory database works as well', async () => {
    const opened = openSqlite(':memory:');
    assert.deepEqual(await migrate(opened, notesMigrations(1)), { from: 0, to: 1, backup: null });
    assert.deepEqual(await migrate(opened, notesMigrations(3)), { from: 1, to: 3, backup: null });
    await opened.close();
  });

  test('an older file is copied, then upgraded, and no reference to it is lost', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a.db');
      await migrateFile(path, 1);
      const old = openSqlite(path);
      await sql`insert into notes values (1, 'one'), (2, null)`.execute(old.db);
      await sql`insert into marks values (1, 1), (2, 2)`.execute(old.db);
      await old.close();
      const backup = `${path}.backup-v1-1800000000`;
      assert.deepEqual(await migrateFile(path, 3), { from: 1, to: 3, backup });
      assert.deepEqual(readdirSync(folder), ['a.db', 'a.db.backup-v1-1800000000']);
      const opened = openSqlite(path);
      const { rows } = await sql`
        select notes.id, text, count(*) as marks from notes join marks on note_id = notes.id
        group by 1`.execute(opened.db);
      assert.deepEqual(rows, [
        { id: 1, text: 'one', marks: 1 },
        { id: 2, text: '', marks: 1 },
      ]);
      assert.deepEqual(opened.raw.prepare('pragma foreign_keys').all().length, 1);
      await assert.rejects(sql`insert into marks values (3, 77)`.execute(opened.db), /FOREIGN KEY/);
      await opened.close();
      assert.equal(await countNotes(backup), 2);
      assert.match(await schemaOf(backup), /^\[\[1\]/);
    }));

  test('a file with tables but without a version is copied like an older one', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a.db');
      await makeNotes(path, 5);
      const before = bytesOf(path);
      // The first of these migrations cannot be applied, because the table exists already.
      await assert.rejects(migrateFile(path, 1), /already exists/);
      assert.equal(bytesOf(path), before);
      assert.equal(await countNotes(`${path}.backup-v0-1800000000`), 5);
    }));

  test('a newer file is refused and left alone', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a.db');
      await makeNotes(path, 1, 7);
      const before = bytesOf(path);
      await assert.rejects(
        migrateFile(path, 3),
        isRefusal(
          'newer database',
          path,
          'version 7',
          'version 3',
          'nothing was changed',
          'Update',
        ),
      );
      assert.equal(bytesOf(path), before);
      assert.deepEqual(readdirSync(folder), ['a.db']);
    }));

  const failures: readonly (readonly [string, () => Promise<void>, RegExp])[] = [
    ['that throws', () => Promise.reject(new Error('cannot do it')), /cannot do it/],
    ['that leaves dangling references', () => Promise.resolve(), /refer to rows that do not exist/],
  ];
  for (const [title, end, expected] of failures) {
    test(`a migration ${title} changes nothing`, () =>
      inFolder(async (folder) => {
        const path = join(folder, 'a.db');
        await migrateFile(path, 1);
        const opened = openSqlite(path);
        await sql`insert into notes values (1, 'one')`.execute(opened.db);
        await sql`insert into marks values (1, 1)`.execute(opened.db);
        const before = await schemaOf(path);
        const { migrations } = notesMigrations(1);
        const bad = {
          version: 2,
          name: 'bad',
          up: async (db: typeof opened.db) => {
            await sql`create table half (id integer)`.execute(db);
            await sql`delete from notes`.execute(db);
            await end();
          },
        };
        const options = { migrations: [...migrations, bad], version: 2 };
        await assert.rejects(migrate(opened, options), expected);
        assert.equal(await schemaOf(path), before);
        assert.equal(await countNotes(path), 1);
        assert.deepEqual(
          { ...opened.raw.prepare('pragma foreign_keys').get() },
          { foreign_keys: 1 },
        );
        await opened.close();
        assert.equal((await migrateFile(path, 3)).to, 3);
      }));
  }

  for (const { title, from } of [
    { title: 'a new', from: 0 },
    { title: 'an older', from: 1 },
  ]) {
    test(`several processes may open ${title} file at once`, () =>
      inFolder(async (folder) => {
        const path = join(folder, 'a.db');
        if (from > 0) await migrateFile(path, from);
        const children = Array.from({ length: 4 }, () =>
          startSqliteChild({ act: 'migrate', path, version: 3 }),
        );
        for (const child of children) assert.equal(await child.nextLine(), 'ready');
        for (const child of children) child.goOn();
        const lines = await Promise.all(children.map((child) => child.nextLine()));
        await Promise.all(children.map(({ ended }) => ended));
        const outcomes = lines.map((line) => JSON.parse(line ?? 'null') as MigrateOutcome);
        assert.deepEqual(
          outcomes.map(({ to }) => to),
          [3, 3, 3, 3],
        );
        assert.equal(outcomes.filter((outcome) => outcome.from === from).length, 1);
        const backups = readdirSync(folder).filter((name) => name.includes('backup'));
        assert.equal(backups.length, from === 0 ? 0 : 1);
      }));
  }
});
