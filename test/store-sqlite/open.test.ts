// Opening a SQLite file: the connection's rules, rows and transactions.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { openSqlite } from '../../server/store/sqlite/open.ts';
import { createNotes, inFolder, isRefusal, makeNotes, type NotesTables } from './folder.ts';

suite('sqlite: a connection', () => {
  const rules: readonly (readonly [string, 'full' | 'grouped' | 'normal', unknown])[] = [
    ['journal_mode', 'full', 'wal'],
    ['synchronous', 'full', 2],
    ['synchronous', 'normal', 1],
    // In that case Drover flushes the commits itself, in groups.
    ['synchronous', 'grouped', 1],
    ['foreign_keys', 'full', 1],
    ['busy_timeout', 'full', 5000],
  ];
  for (const [pragma, durability, expected] of rules) {
    for (const isNew of [true, false]) {
      test(`${pragma} of a ${isNew ? 'new' : 'known'} file, ${durability}: ${String(expected)}`, () =>
        inFolder(async (folder) => {
          const path = join(folder, 'a.db');
          if (!isNew) await makeNotes(path, 1);
          const opened = openSqlite(path, { durability });
          const row = opened.raw.prepare(`pragma ${pragma}`).get();
          assert.equal(Object.values(row ?? {})[0], expected);
          await opened.close();
        }));
    }
  }

  test('results are plain objects with numbers, texts, nulls and bytes', async () => {
    const opened = openSqlite<NotesTables>(':memory:');
    const { rows } = await sql`
      select 1 as one, 2.5 as half, 'text' as text, null as empty, x'0102' as bytes,
        ${Number.MAX_SAFE_INTEGER} as large`.execute(opened.db);
    assert.deepEqual(rows, [
      {
        one: 1,
        half: 2.5,
        text: 'text',
        empty: null,
        bytes: new Uint8Array([1, 2]),
        large: Number.MAX_SAFE_INTEGER,
      },
    ]);
    await opened.close();
  });

  test('it reports how many rows changed, and answers RETURNING', async () => {
    const opened = openSqlite<NotesTables>(':memory:');
    await createNotes(opened, 3);
    const { db } = opened;
    const updated = await db.updateTable('notes').set({ text: 'x' }).where('id', '>', 1).execute();
    assert.equal(updated[0]?.numUpdatedRows, 2n);
    const deleted = await db.deleteFrom('notes').where('id', '=', 2).returning('text').execute();
    assert.deepEqual(deleted, [{ text: 'x' }]);
    const inserted = await db.insertInto('notes').values({ id: 9, text: null }).execute();
    assert.equal(inserted[0]?.insertId, 9n);
    const streamed: number[] = [];
    for await (const { id } of db.selectFrom('notes').select('id').orderBy('id').stream()) {
      streamed.push(id);
    }
    assert.deepEqual(streamed, [1, 3, 9]);
    await opened.close();
  });

  test('an earlier statement sees columns that were added or renamed since', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a.db');
      await makeNotes(path, 1);
      const opened = openSqlite<NotesTables>(path);
      const { db } = opened;
      const columns = async (): Promise<readonly string[]> =>
        Object.keys((await db.selectFrom('notes').selectAll().execute())[0] ?? {});
      assert.deepEqual(await columns(), ['id', 'text']);
      await db.schema.alterTable('notes').renameColumn('text', 'words').execute();
      assert.deepEqual(await columns(), ['id', 'words']);
      const other = new DatabaseSync(path);
      other.exec("alter table notes add column more text default 'm'");
      other.close();
      assert.deepEqual(await columns(), ['id', 'words', 'more']);
      await opened.close();
    }));

  test('many different statements are kept apart', async () => {
    const opened = openSqlite(':memory:');
    for (const round of [1, 2]) {
      for (let n = 0; n < 600; n += 1) {
        const { rows } = await sql<{ n: number }>`select ${sql.lit(n)} as n`.execute(opened.db);
        assert.deepEqual(rows, [{ n }], `round ${round}`);
      }
    }
    await opened.close();
  });

  test('transactions run one after the other, each as a whole', async () => {
    const opened = openSqlite<NotesTables>(':memory:');
    await createNotes(opened, 1);
    const { db } = opened;
    const order: number[] = [];
    const increments = Array.from({ length: 50 }, (_, index) =>
      db.transaction().execute(async (tx) => {
        const row = await tx.selectFrom('notes').select('text').executeTakeFirstOrThrow();
        const count = Number.parseInt(row.text ?? '', 10) || 0;
        await new Promise((resolve) => setImmediate(resolve));
        await tx
          .updateTable('notes')
          .set({ text: String(count + 1) })
          .execute();
        order.push(index);
        if (index % 5 === 0) throw new Error('undone');
      }),
    );
    const results = await Promise.allSettled(increments);
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 40);
    const row = await db.selectFrom('notes').select('text').executeTakeFirstOrThrow();
    assert.equal(row.text, '40');
    assert.deepEqual(
      order,
      Array.from({ length: 50 }, (_, index) => index),
    );
    await opened.close();
  });

  test('a violated constraint is passed to the caller unchanged', async () => {
    const opened = openSqlite<NotesTables>(':memory:');
    await createNotes(opened, 1);
    await assert.rejects(
      opened.db.insertInto('notes').values({ id: 1, text: 'twice' }).execute(),
      /UNIQUE constraint failed/,
    );
    await opened.close();
  });

  test('close waits for the running transaction, and may be called twice', async () => {
    const opened = openSqlite<NotesTables>(':memory:');
    await createNotes(opened, 0);
    const writing = opened.db.transaction().execute(async (tx) => {
      await new Promise((resolve) => setImmediate(resolve));
      await tx.insertInto('notes').values({ id: 1, text: 'in time' }).execute();
      return 'written';
    });
    const closing = [opened.close(), opened.close()];
    assert.equal(await writing, 'written');
    await Promise.all(closing);
    assert.equal(opened.raw.isOpen, false);
  });

  test('a read-only connection reads, and refuses to write', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a.db');
      await makeNotes(path, 3);
      const opened = openSqlite<NotesTables>(path, { readOnly: true });
      const { db } = opened;
      assert.equal((await db.selectFrom('notes').select('id').execute()).length, 3);
      await assert.rejects(
        db.deleteFrom('notes').execute(),
        isRefusal('database', path, 'cannot be written'),
      );
      await opened.close();
      assert.throws(
        () => openSqlite(join(folder, 'none.db'), { readOnly: true }),
        isRefusal('database', 'none.db', 'cannot be opened'),
      );
    }));
});
