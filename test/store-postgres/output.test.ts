// Agents' output in a fleet: what one machine writes is read on the others, as if it were written there.

import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { deleteOldParts, outputKeptMs } from '../../server/store/log-parts.ts';
import { refusalOf } from '../unit/store/memory-store.ts';
import { testDatabases } from './databases.ts';
import {
  assertSameFiles,
  beginAttempt,
  endAttempt,
  fileOf,
  type Machine,
  newFolder,
  openLog,
  openMachine,
  removeFolders,
  say,
  stored,
} from './output-machines.ts';

suite("postgres: agents' output", function () {
  this.timeout(60_000);
  let url: string;
  let one: Machine;
  let two: Machine;
  let others: Machine[];

  setup(async () => {
    url = await (await testDatabases()).createWithTables();
    one = await openMachine(url, 'one');
    two = await openMachine(url, 'two');
    others = [];
  });
  teardown(async () => {
    for (const machine of [one, two, ...others]) await machine.close();
    removeFolders();
    assert.deepEqual(one.reports, []);
  });

  const partsOf = async (id: string): Promise<{ file: string; start: number; size: number }[]> =>
    one.store.db
      .selectFrom('log_parts')
      .select(['file', 'start', 'size'])
      .where('file', 'like', `${id}/%`)
      .orderBy('file')
      .orderBy('start')
      .execute();

  test('is read on another machine: forwards, backwards, and the prompt', async () => {
    await beginAttempt(one.store, 'T', 'one');
    const log = await openLog(one, 'T');
    const path = join(one.logs, fileOf('T'));
    writeFileSync(`${path}.prompt`, 'Do it\0 with ü');
    await say(log, 'a', 'b', 'c', 'ö');
    await stored(one, 'T');
    assert.deepEqual(await two.texts('T'), ['a', 'b', 'c', 'ö']);
    const end = await two.read('T', { before: Number.MAX_SAFE_INTEGER, limit: 2 });
    assert.deepEqual(
      end.events.map((event) => event['text']),
      ['c', 'ö'],
    );
    assert.equal(await two.prompt('T'), 'Do it? with ü');
    writeFileSync(`${path}.prompt`, 'Once more');
    await say(log, 'd');
    await stored(one, 'T');
    assert.equal(await two.prompt('T'), 'Once more');
    assert.deepEqual(await two.texts('T'), ['a', 'b', 'c', 'ö', 'd']);
    await log.close();
  });

  test('whoever waits hears of it, and of the end with everything before it', async () => {
    await beginAttempt(one.store, 'T', 'one');
    const log = await openLog(one, 'T');
    const heard: unknown[] = [];
    const following = (async () => {
      for (let offset = 0; ;) {
        const page = await two.read('T', { offset, wait_ms: 30_000 });
        for (const event of page.events) heard.push(event['text']);
        offset = page.next_offset;
        if (page.ended) return;
      }
    })();
    for (let turn = 0; turn < 20; turn += 1) {
      await say(log, `line ${turn}`);
      if (turn % 5 === 0) await stored(one, 'T');
    }
    await log.close();
    await stored(one, 'T');
    await endAttempt(one.store, 'T');
    await following;
    assert.deepEqual(
      heard,
      Array.from({ length: 20 }, (_, turn) => `line ${turn}`),
    );
  });

  test('a command without a backend reads it too, and hears nothing without listening', async () => {
    await beginAttempt(one.store, 'T', 'one');
    const log = await openLog(one, 'T');
    await say(log, 'a');
    await stored(one, 'T');
    const reader = await openMachine(url, 'three', { ships: false, listens: false });
    others.push(reader);
    assert.deepEqual(await reader.texts('T'), ['a']);
    const { next_offset: offset } = await reader.read('T');
    const waiting = reader.read('T', { offset, wait_ms: 30_000 });
    await say(log, 'b');
    assert.deepEqual(
      (await waiting).events.map((event) => event['text']),
      ['b'],
    );
    await log.close();
  });

  test('of a log that has dropped its middle there is no more than the log has', async () => {
    await beginAttempt(one.store, 'T', 'one');
    const log = await openLog(one, 'T', 64 * 1024);
    for (let turn = 0; turn < 100; turn += 1) {
      await say(
        log,
        ...Array.from({ length: 20 }, (_, line) => `${turn}/${line} ${'x'.repeat(200)}`),
      );
      if (turn % 10 === 0) {
        await stored(one, 'T');
        await two.read('T');
      }
    }
    await log.close();
    await stored(one, 'T');
    assert.deepEqual(await two.texts('T'), await one.texts('T'));
    assertSameFiles(one, two, 'T');
    const bytes = (await partsOf('T')).reduce((sum, part) => sum + part.size, 0);
    assert.ok(bytes < 70 * 1024, `${bytes}`);
  });

  test('long lines go in parts of a bounded size, whole', async () => {
    await beginAttempt(one.store, 'T', 'one');
    const log = await openLog(one, 'T');
    for (const length of [1, 1_048_576, 300_000, 3_000_000])
      await say(log, 'ü€😀'.repeat(length / 3));
    await say(log, 'end');
    await log.close();
    await stored(one, 'T');
    assert.equal((await two.texts('T')).at(-1), 'end');
    assertSameFiles(one, two, 'T');
    for (const part of await partsOf('T')) assert.ok(part.size <= 256 * 1024);
  });

  test('two readers and two processes at once copy the same', async () => {
    await beginAttempt(one.store, 'T', 'one');
    const log = await openLog(one, 'T');
    const beside = await openMachine(url, 'two', { logs: two.logs, ships: false });
    others.push(beside);
    const lines: string[] = [];
    for (let turn = 0; turn < 40; turn += 1) {
      lines.push(`${turn} ${'x'.repeat(20_000)}`);
      await say(log, lines.at(-1) ?? '');
      if (turn % 4 === 0) void stored(one, 'T');
      const [first, second] = await Promise.all([
        two.texts('T'),
        beside.texts('T'),
        two.read('T', { before: Number.MAX_SAFE_INTEGER }),
      ]);
      assert.deepEqual(first, lines.slice(0, first.length));
      assert.deepEqual(second, lines.slice(0, second.length));
    }
    await log.close();
    await stored(one, 'T');
    assert.deepEqual(await Promise.all([two.texts('T'), beside.texts('T')]), [lines, lines]);
    assertSameFiles(one, two, 'T');
  });

  test('a log whose end was lost is stored as it is now, and readers see that', async () => {
    await beginAttempt(one.store, 'T', 'one');
    const log = await openLog(one, 'T');
    const path = join(one.logs, fileOf('T'));
    await say(log, 'a', 'b');
    await stored(one, 'T');
    await say(log, 'lost 1');
    await stored(one, 'T');
    await say(log, 'lost 2', 'lost 3');
    await stored(one, 'T');
    await log.close();
    assert.equal((await two.texts('T')).length, 5);
    await one.close();
    // The power goes off: the end of the file was never on the disk, its marks neither.
    const kept = readFileSync(path, 'utf8').split('\n').slice(0, 2).join('\n');
    truncateSync(path, Buffer.byteLength(kept) + 1);
    truncateSync(`${path}.marks`, 0);
    one = await openMachine(url, 'one', { logs: one.logs });
    const again = await openLog(one, 'T');
    await say(again, 'other 1', 'other 2', 'other 3', 'other 4');
    await again.close();
    await stored(one, 'T');
    const texts = ['a', 'b', 'other 1', 'other 2', 'other 3', 'other 4'];
    assert.deepEqual(await one.texts('T'), texts);
    assert.deepEqual(await two.texts('T'), texts);
    assertSameFiles(one, two, 'T');
  });

  test('bytes that no database takes keep their places', async () => {
    await beginAttempt(one.store, 'T', 'one');
    const log = await openLog(one, 'T');
    await say(log, 'a');
    await log.close();
    const path = join(one.logs, fileOf('T'));
    // What a power cut leaves: zeros, and the half of a character.
    appendFileSync(path, Buffer.from([0, 0, 0xe2, 0x82, 0x0a]));
    truncateSync(`${path}.marks`, 0);
    const again = await openLog(one, 'T');
    await say(again, 'b');
    await again.close();
    await stored(one, 'T');
    assert.deepEqual(await two.texts('T'), ['a', 'b']);
    const copy = readFileSync(join(two.logs, fileOf('T')));
    assert.equal(copy.length, readFileSync(path).length);
    assert.ok(copy.includes('\n????\n'));
  });

  test('a log of that name from an earlier life of the reader is put aside, whole', async () => {
    await beginAttempt(one.store, 'T', 'one');
    const old = await openLog(two, 'T', 4_096);
    await say(old, ...Array.from({ length: 100 }, (_, line) => `old ${line} ${'x'.repeat(100)}`));
    await old.close();
    const before = readdirSync(join(two.logs, 'T'));
    assert.ok(before.length > 3);
    assert.deepEqual((await two.read('T')).events.length > 0, true, 'nothing stored: left alone');
    const log = await openLog(one, 'T');
    await say(log, 'new');
    await log.close();
    await stored(one, 'T');
    assert.deepEqual(await two.texts('T'), ['new']);
    const aside = readdirSync(join(two.logs, 'aside'), { recursive: true, encoding: 'utf8' });
    for (const name of before)
      assert.ok(
        aside.some((path) => path.endsWith(`T/${name}`)),
        name,
      );
    assert.deepEqual(await two.texts('T'), ['new']);
  });

  test('what was written while nobody stored it is stored at the next start', async () => {
    await beginAttempt(one.store, 'T', 'one');
    await beginAttempt(one.store, 'U', 'one');
    const idle = await openMachine(url, 'one', { ships: false, logs: newFolder() });
    others.push(idle);
    for (const id of ['T', 'U']) {
      const log = await openLog(idle, id);
      await say(log, `of ${id}`);
      await log.close();
    }
    await endAttempt(one.store, 'T');
    const next = await openMachine(url, 'one', { logs: idle.logs });
    others.push(next);
    for (const id of ['T', 'U']) {
      const page = await two.read(id, { wait_ms: 30_000 });
      const texts = page.events.map((event) => event['text']);
      // The ended one may be read before its output is there.
      if (texts.length > 0) assert.deepEqual(texts, [`of ${id}`]);
      await stored(next, id);
      assert.deepEqual(await two.texts(id), [`of ${id}`]);
    }
  });

  test('a machine stores nothing of an attempt that is not its own', async () => {
    await beginAttempt(one.store, 'T', 'two');
    const log = await openLog(one, 'T');
    await say(log, 'a');
    await log.close();
    await stored(one, 'T');
    assert.deepEqual(await partsOf('T'), []);
  });

  test('of attempts that ended long ago nothing is kept, and readers are told', async () => {
    const now = Date.now();
    const ends = { old: now - outputKeptMs - 1, new: now, open: null };
    for (const [id, endedAt] of Object.entries(ends)) {
      await beginAttempt(one.store, id, 'one');
      const log = await openLog(one, id);
      await say(log, 'a');
      await log.close();
      await stored(one, id);
      if (endedAt !== null) await endAttempt(one.store, id, endedAt);
    }
    await one.store.db
      .updateTable('log_parts')
      .set({ at_ms: now - outputKeptMs - 5 })
      .execute();
    assert.equal(await deleteOldParts(one.store.db, now - outputKeptMs), 1);
    assert.equal(await deleteOldParts(one.store.db, now - outputKeptMs), 0);
    const refusal = await refusalOf(two.read('old'));
    assert.equal(refusal.kind, 'output_gone');
    assert.match(refusal.message, /old in attempt 1 .* 7 days .* machine one .*old\/1\.ndjson/);
    assert.deepEqual(await one.texts('old'), ['a'], 'its own machine has it');
    for (const id of ['new', 'open']) assert.deepEqual(await two.texts(id), ['a']);
    // A copy that was made in time stays.
    await one.store.db.updateTable('attempts').set({ ended_at_ms: 1 }).execute();
    assert.equal(await deleteOldParts(one.store.db, now - outputKeptMs), 2);
    assert.deepEqual(await two.texts('new'), ['a']);
    // Nothing is stored again by the next start.
    const next = await openMachine(url, 'one', { logs: one.logs });
    others.push(next);
    assert.equal(existsSync(join(two.logs, fileOf('old'))), false);
  });
});
