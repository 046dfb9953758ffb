// Commits in groups: each is answered only after a flush that started later, and none blocks
// another.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { openSqlite } from '../../server/store/sqlite/open.ts';
import { GroupSync } from '../../server/store/sqlite/group-sync.ts';
import { createNotes, inFolder, isRefusal, type NotesTables } from './folder.ts';

suite('sqlite: grouped commits', () => {
  test('many concurrent transactions and single statements are all stored, in order, after closing', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a.db');
      const opened = openSqlite<NotesTables>(path, { durability: 'grouped' });
      await createNotes(opened, 0);
      const { db } = opened;
      const writes = Array.from({ length: 60 }, (_, index) =>
        index % 3 === 0
          ? db
              .insertInto('notes')
              .values({ id: index + 1, text: 'single' })
              .execute()
          : db.transaction().execute(async (tx) => {
              await tx
                .insertInto('notes')
                .values({ id: index + 1, text: 'first' })
                .execute();
              await tx
                .updateTable('notes')
                .set({ text: 'second' })
                .where('id', '=', index + 1)
                .execute();
            }),
      );
      await Promise.all(writes);
      await opened.close();
      const again = openSqlite<NotesTables>(path);
      const rows = await again.db.selectFrom('notes').selectAll().orderBy('id').execute();
      assert.deepEqual(
        rows.map((row) => row.text),
        writes.map((_, index) => (index % 3 === 0 ? 'single' : 'second')),
      );
      await again.close();
    }));

  test('a failing transaction is rolled back while others commit concurrently', () =>
    inFolder(async (folder) => {
      const opened = openSqlite<NotesTables>(join(folder, 'a.db'), { durability: 'grouped' });
      await createNotes(opened, 0);
      const { db } = opened;
      const one = (id: number, fails: boolean): Promise<void> =>
        db.transaction().execute(async (tx) => {
          await tx.insertInto('notes').values({ id, text: null }).execute();
          if (fails) throw new Error('no');
        });
      const ended = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) => one(index + 1, index % 2 === 0)),
      );
      assert.equal(ended.filter((end) => end.status === 'fulfilled').length, 10);
      const rows = await db.selectFrom('notes').select('id').orderBy('id').execute();
      assert.deepEqual(
        rows.map((row) => row.id),
        Array.from({ length: 10 }, (_, index) => 2 * index + 2),
      );
      await opened.close();
    }));

  test('a transaction that only reads needs no flush, but one of raw statements does', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a.db');
      const opened = openSqlite<NotesTables>(path, { durability: 'grouped' });
      await createNotes(opened, 1);
      const { db } = opened;
      await db.transaction().execute((tx) => tx.selectFrom('notes').selectAll().execute());
      await db.connection().execute(async (connection) => {
        await sql`begin immediate`.execute(connection);
        await sql`delete from notes`.execute(connection);
        await sql`commit`.execute(connection);
      });
      assert.deepEqual(await db.selectFrom('notes').selectAll().execute(), []);
      await opened.close();
    }));

  test('a statement that changes no row needs no flush, but one that changes rows does', () =>
    inFolder(async (folder) => {
      const opened = openSqlite<NotesTables>(join(folder, 'a.db'), { durability: 'grouped' });
      await createNotes(opened, 0);
      const { db } = opened;
      let flushes = 0;
      const flushed = Reflect.get(GroupSync.prototype, 'flushed') as (
        this: GroupSync,
      ) => Promise<void>;
      GroupSync.prototype.flushed = function counted(this: GroupSync) {
        flushes += 1;
        return flushed.call(this);
      };
      try {
        const note = (text: string) => db.updateTable('notes').set({ text });
        await note('nothing').execute();
        await note('nothing').returning('id').execute();
        await db.deleteFrom('notes').execute();
        await sql`with a as (select 1 as id) select id from a where id > 1`.execute(db);
        await sql`with a as (select 1 as id) delete from notes where id in a`.execute(db);
        assert.equal(flushes, 0);
        await db.insertInto('notes').values({ id: 1, text: 'a' }).execute();
        await note('b').execute();
        assert.equal((await note('c').returning('id').execute()).length, 1);
        const read = sql`with a as (select id, text as updated_text from notes) select * from a`;
        assert.equal((await read.execute(db)).rows.length, 1);
        await sql`with a as (select 1 as id) delete from notes where id in a`.execute(db);
        assert.equal(flushes, 4);
      } finally {
        GroupSync.prototype.flushed = flushed;
      }
      await opened.close();
    }));

  test('calls in one turn share a flush, and calls during it share the next one', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a.db');
      fs.writeFileSync(`${path}-wal`, 'log');
      const sync = new GroupSync(path);
      const first = sync.flushed();
      await Promise.resolve();
      assert.equal(sync.flushed(), first);
      // Both were requested before this, so the flush has started by then; it needs another thread
      // and at least one more turn to end.
      await new Promise(setImmediate);
      const [second, third] = [sync.flushed(), sync.flushed()];
      assert.notEqual(first, second);
      assert.equal(second, third);
      await Promise.all([first, second, third]);
      await sync.close();
    }));

  test('a failed flush is refused with the name of the file, and the next one may succeed', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a.db');
      const sync = new GroupSync(path);
      await assert.rejects(sync.flushed(), isRefusal('database', path, 'disk'));
      fs.writeFileSync(`${path}-wal`, 'log');
      await sync.flushed();
      await sync.close();
    }));
});
