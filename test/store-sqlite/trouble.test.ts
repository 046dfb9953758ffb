// Failures of files and disks: each refusal names the file and the remedy, and nothing is changed.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sql } from 'kysely';
import { openSqlite } from '../../server/store/sqlite/open.ts';
import { startSqliteChild } from './child-process.ts';
import {
  bytesOf,
  countNotes,
  createNotes,
  inFolder,
  isRefusal,
  makeNotes,
  type NotesTables,
} from './folder.ts';

suite('sqlite: failures', () => {
  test('a file that is not a database is reported', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a.db');
      writeFileSync(path, 'These are notes of a person, not a database at all.\n'.repeat(100));
      const before = bytesOf(path);
      const expected = isRefusal('database', path, 'not a database', 'nothing was changed', 'Move');
      assert.throws(() => openSqlite(path), expected);
      assert.throws(() => openSqlite(path, { readOnly: true }), expected);
      assert.equal(bytesOf(path), before);
    }));

  for (const change of ['deleted', 'moved', 'replaced']) {
    test(`a file that was ${change} while it was open is not written to`, () =>
      inFolder(async (folder) => {
        const path = join(folder, 'a.db');
        await makeNotes(path, 1);
        const opened = openSqlite<NotesTables>(path);
        const write = (): Promise<unknown> =>
          opened.db.transaction().execute((tx) => tx.deleteFrom('notes').execute());
        if (change === 'deleted') rmSync(path);
        else renameSync(path, `${path}.moved`);
        if (change === 'replaced') writeFileSync(path, '');
        await assert.rejects(write, isRefusal('database', path, 'deleted, moved or replaced'));
        await opened.close();
      }));
  }

  test('a damaged file is reported with the newest backup', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a.db');
      await makeNotes(path, 2_000);
      const file = openSync(path, 'r+');
      writeSync(file, Buffer.alloc(8 * 4096, 0x5a), 0, 8 * 4096, 4096 * 3);
      closeSync(file);
      const before = bytesOf(path);
      assert.throws(() => openSqlite(path), isRefusal('database', path, 'damaged', 'Move it away'));
      const backup = `${path}.backup-v3-1800000000`;
      await makeNotes(backup, 1);
      assert.throws(() => openSqlite(path), isRefusal('database', path, 'damaged', backup));
      assert.equal(bytesOf(path), before);
    }));

  test('an empty file is a new database', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a.db');
      writeFileSync(path, '');
      const opened = openSqlite<NotesTables>(path);
      await createNotes(opened, 2);
      await opened.close();
      assert.equal(await countNotes(path), 2);
    }));

  test('a missing folder is reported', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'none', 'a.db');
      assert.throws(() => openSqlite(path), isRefusal('database', path, 'folder exists'));
    }));

  test('a file or folder without write permission is reported', () =>
    inFolder(async (folder) => {
      if (process.platform === 'win32') return; // Modes of files mean something else there.
      const fixed = join(folder, 'fixed.db');
      await makeNotes(fixed, 1);
      chmodSync(fixed, 0o444);
      const locked = join(folder, 'locked');
      mkdirSync(locked);
      await makeNotes(join(locked, 'a.db'), 1);
      chmodSync(join(locked, 'a.db'), 0o666);
      chmodSync(locked, 0o555);
      const before = [fixed, join(locked, 'a.db')].map(bytesOf);
      asOrdinaryUser(() => {
        assert.throws(() => openSqlite(fixed), isRefusal('database', fixed, 'writable'));
        for (const name of ['a.db', 'new.db']) {
          const path = join(locked, name);
          assert.throws(() => openSqlite(path), isRefusal('database', path, 'writable'));
        }
      });
      assert.deepEqual([fixed, join(locked, 'a.db')].map(bytesOf), before);
      chmodSync(locked, 0o755);
    }));

  test("another process's lock that does not end in time is reported", () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a.db');
      await makeNotes(path, 1);
      const holder = openSqlite<NotesTables>(path);
      const waiter = openSqlite<NotesTables>(path, { busyTimeoutMs: 50 });
      holder.raw.exec('begin immediate');
      await assert.rejects(
        waiter.db.insertInto('notes').values({ id: 2, text: 'x' }).execute(),
        isRefusal('database', path, 'locked by another process', 'try again'),
      );
      // The database can be opened and read during that time.
      assert.equal(await countNotes(path), 1);
      const third = openSqlite<NotesTables>(path);
      await third.close();
      holder.raw.exec('rollback');
      await waiter.db.insertInto('notes').values({ id: 2, text: 'x' }).execute();
      await Promise.all([holder.close(), waiter.close()]);
    }));

  test('a file that is not in WAL mode and that another program reads is handled', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a.db');
      await makeNotes(path, 1);
      const raw = new DatabaseSync(path);
      raw.exec('pragma journal_mode = delete');
      raw.close();
      const reader = startSqliteChild({ act: 'read', path });
      assert.equal(await reader.nextLine(), 'reading');
      const startMs = performance.now();
      const holder = process.platform === 'linux' ? `process ${reader.pid}` : 'another process';
      assert.throws(
        () => openSqlite<NotesTables>(path, { busyTimeoutMs: 200 }),
        isRefusal('database', path, holder, 'try again'),
      );
      // A limit for all attempts together, not for each of them.
      assert.ok(performance.now() - startMs < 3_000);
      reader.goOn();
      await reader.ended;
      const opened = openSqlite<NotesTables>(path);
      assert.equal(opened.raw.prepare('pragma journal_mode').get()?.['journal_mode'], 'wal');
      await opened.close();
    }));

  test('a page limit counts as a full disk: the transaction is rolled back, and the next one works', () =>
    inFolder(async (folder) => {
      const path = join(folder, 'a.db');
      await makeNotes(path, 10);
      const opened = openSqlite<NotesTables>(path);
      await sql`pragma max_page_count = 40`.execute(opened.db);
      await assert.rejects(
        fill(opened.db),
        isRefusal('database', path, 'No space is left', 'Free'),
      );
      assert.equal(await countNotes(path), 10);
      await opened.db.insertInto('notes').values({ id: 11, text: 'small' }).execute();
      await opened.close();
      assert.equal(await countNotes(path), 11);
    }));

  test('a full disk rolls the transaction back, and it works again once there is space', () =>
    inFolder((folder) =>
      onTinyDisk(join(folder, 'disk'), async (disk) => {
        const path = join(disk, 'a.db');
        await makeNotes(path, 10);
        const ballast = join(disk, 'ballast');
        writeFileSync(ballast, Buffer.alloc(300_000));
        const opened = openSqlite<NotesTables>(path);
        await assert.rejects(fill(opened.db), isRefusal('database', path, 'No space is left'));
        assert.equal((await opened.db.selectFrom('notes').select('id').execute()).length, 10);
        rmSync(ballast);
        await opened.db.insertInto('notes').values({ id: 11, text: 'small' }).execute();
        await opened.close();
        assert.equal(await countNotes(path), 11);
      }),
    ));
});

function fill(db: ReturnType<typeof openSqlite<NotesTables>>['db']): Promise<void> {
  return db.transaction().execute(async (tx) => {
    for (let id = 1_000; id < 6_000; id += 1) {
      await tx
        .insertInto('notes')
        .values({ id, text: 'x'.repeat(1_000) })
        .execute();
    }
  });
}

/** The superuser may write everything, so as root these lines run with the rights of `nobody`. */
function asOrdinaryUser(body: () => void): void {
  if (process.geteuid?.() !== 0) return body();
  process.seteuid?.(65_534);
  try {
    body();
  } finally {
    process.seteuid?.(0);
  }
}

/**
 * Runs the body on a disk of one megabyte, if this user may mount one; the test of pages replaces
 * it elsewhere.
 */
async function onTinyDisk(folder: string, body: (disk: string) => Promise<void>): Promise<void> {
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return;
  }
  try {
    await body(folder);
  } finally {
    execFileSync('umount', [folder]);
  }
}
