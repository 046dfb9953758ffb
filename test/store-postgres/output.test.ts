// Agents' output in a fleet: other machines read the output of a machine as if it were their own.

import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openEventLog } from '../../server/agents/kit/log/event-log.ts';
import { testDatabases } from './databases.ts';
import {
  assertSameFiles,
  beginAttempt,
  closeMachines,
  endAttempt,
  fileOf,
  type Machine,
  newFolder,
  openLog,
  openMachine,
  say,
  stored,
} from './output-machines.ts';
import { tablesOf } from '../tables.ts';

suite("postgres: agents' output", function () {
  this.timeout(60_000);
  let url: string;
  let one: Machine;
  let two: Machine;

  setup(async () => {
    url = await (await testDatabases()).createWithTables();
    one = await openMachine(url, 'one');
    two = await openMachine(url, 'two');
  });
  teardown(async () => {
    assert.deepEqual(await closeMachines(), []);
  });

  const partsOf = async (id: string): Promise<{ file: string; start: number; size: number }[]> =>
    tablesOf(one.store.db)
      .selectFrom('log_parts')
      .select(['file', 'start', 'size'])
      .where('file', 'like', `${id}/%`)
      .orderBy('file')
      .orderBy('start')
      .execute();

  test('output is read on another machine: forwards, backwards, and the prompt', async () => {
    await beginAttempt(one.store, 'T', 'one');
    const log = await openLog(one, 'T');
    const path = join(one.logs, fileOf('T'));
    writeFileSync(`${path}.prompt`, 'Do it\0 with ü');
    await say(log, 'a', 'b', 'c', 'ö');
    await stored(one, 'T');
    assert.deepEqual(await two.texts('T'), ['a', 'b', 'c', 'ö']);
    const end = await two.read('T', { before: Number.MAX_SAFE_INTEGER, limit: 2 });
    assert.deepEqual(
      end.events.map((event) => ('text' in event ? event.text : null)),
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

  test('output is searched on another machine, in head and tail, at the offset that readers use', async () => {
    await beginAttempt(one.store, 'T', 'one');
    await beginAttempt(one.store, 'U', 'one');
    const small = await openLog(one, 'U');
    await say(small, 'nothing of it', '100 % of the \\Cart_ is öl', 'later');
    await small.close();
    const log = await openLog(one, 'T', 64 * 1024);
    await say(log, 'the type of the cart: "text"');
    for (let line = 0; line < 2_000; line += 1) log.append({ type: 'text', text: `line ${line}` });
    await say(log, 'the NEEDLE is here', 'the end');
    await log.close();
    await stored(one, 'T');
    await stored(one, 'U');
    const found = async (words: string): Promise<string[]> => {
      const { hits } = await two.search(words);
      const texts: string[] = [];
      for (const { task_id: id, offset, text } of hits) {
        const { events } = await two.read(id, { offset, limit: 1 });
        const [event] = events;
        assert.equal(event !== undefined && 'text' in event ? event.text : '', text);
        texts.push(`${id}: ${text}`);
      }
      return texts;
    };
    assert.deepEqual(await found('needle'), ['T: the NEEDLE is here']);
    assert.deepEqual(await found('"text"'), ['T: the type of the cart: "text"']);
    assert.deepEqual(await found('\\cart_ %'), ['U: 100 % of the \\Cart_ is öl']);
    assert.deepEqual(await found('ÖL'), ['U: 100 % of the \\Cart_ is öl']);
    assert.deepEqual(await found('segment'), []);
    assert.deepEqual(await found('headoutput'), []);
    assert.deepEqual((await one.search('needle')).hits.length, 1);
  });

  test('a waiting reader learns of new output, and of the end after everything before it', async () => {
    await beginAttempt(one.store, 'T', 'one');
    const log = await openLog(one, 'T');
    const heard: unknown[] = [];
    const following = (async () => {
      for (let offset = 0; ;) {
        const page = await two.read('T', { offset, wait_ms: 30_000 });
        for (const event of page.events) heard.push('text' in event ? event.text : null);
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

  test('a command without a backend reads it too, and gets no notification without listening', async () => {
    await beginAttempt(one.store, 'T', 'one');
    const log = await openLog(one, 'T');
    await say(log, 'a');
    await stored(one, 'T');
    const reader = await openMachine(url, 'three', { ships: false, listens: false });
    assert.deepEqual(await reader.texts('T'), ['a']);
    const { next_offset: offset } = await reader.read('T');
    const waiting = reader.read('T', { offset, wait_ms: 30_000 });
    await say(log, 'b');
    assert.deepEqual(
      (await waiting).events.map((event) => ('text' in event ? event.text : null)),
      ['b'],
    );
    await log.close();
  });

  test('no more is stored of a log that has dropped its middle than the log contains', async () => {
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

  test('lines that a log dropped before they could be stored are left out', async () => {
    await beginAttempt(one.store, 'T', 'one');
    let log = await openLog(one, 'T', 16 * 1024);
    const write = async (from: number, count: number): Promise<void> => {
      for (let line = from; line < from + count; line += 1)
        await say(log, `${line} ${'x'.repeat(500)}`);
    };
    // The head is full, the first segment is not.
    await write(0, 18);
    await stored(one, 'T');
    assert.deepEqual(await two.texts('T'), await one.texts('T'));
    await log.close();
    await one.close();
    const idle = await openMachine(url, 'one', { logs: one.logs, ships: false });
    log = await openLog(idle, 'T', 16 * 1024);
    await write(18, 100);
    await log.close();
    one = await openMachine(url, 'one', { logs: one.logs });
    await stored(one, 'T');
    const texts = await two.texts('T');
    assert.deepEqual(texts, await one.texts('T'));
    assert.ok(texts.some((text) => text.includes('bytes of output are missing here')));
    assertSameFiles(one, two, 'T');
  });

  test("the log of a sub-task is stored beside other attempts' logs", async () => {
    await beginAttempt(one.store, 'T', 'one');
    await tablesOf(one.store.db)
      .insertInto('tasks')
      .values({
        id: 'T.1',
        title: 's',
        status: 'ready',
        parent_id: 'T',
        created_at: 1,
        updated_at: 1,
      })
      .execute();
    const names = ['1.ndjson', '1.T.1.ndjson', '11.ndjson', '1.setup.log'];
    for (const name of names) {
      const log = openEventLog(join(one.logs, 'T', name), { maxBytes: 1e6 });
      await say(log, name);
      await log.close();
      await one.output.flush(join(one.logs, 'T', name));
    }
    assert.deepEqual(await two.texts('T.1'), ['1.T.1.ndjson']);
    assert.deepEqual(await two.texts('T'), ['1.ndjson']);
    // Nothing is stored for attempts without a row, or for logs that belong to no attempt.
    const files = (await partsOf('T')).map((part) => part.file);
    assert.deepEqual(files, ['T/1.T.1.ndjson', 'T/1.ndjson']);
  });

  test('long lines are stored completely, in chunks of bounded size', async () => {
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

  test('a log whose end was lost is stored as it is, and readers see that', async () => {
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
    // The power goes off: neither the end of the file nor its marks reached the disk.
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

  test('bytes that no database accepts keep their offsets', async () => {
    await beginAttempt(one.store, 'T', 'one');
    const log = await openLog(one, 'T');
    await say(log, 'a');
    await log.close();
    const path = join(one.logs, fileOf('T'));
    // The traces of a power cut: zeros and half a character.
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

  test('lines written while no process stored them are stored at the next start', async () => {
    await beginAttempt(one.store, 'T', 'one');
    await beginAttempt(one.store, 'U', 'one');
    const idle = await openMachine(url, 'one', { ships: false, logs: newFolder() });
    for (const id of ['T', 'U']) {
      const log = await openLog(idle, id);
      await say(log, `of ${id}`);
      await log.close();
    }
    await endAttempt(one.store, 'T');
    const next = await openMachine(url, 'one', { logs: idle.logs });
    for (const id of ['T', 'U']) {
      const page = await two.read(id, { wait_ms: 30_000 });
      const texts = page.events.map((event) => ('text' in event ? event.text : null));
      // The ended attempt may be read before its output has arrived.
      if (texts.length > 0) assert.deepEqual(texts, [`of ${id}`]);
      await stored(next, id);
      assert.deepEqual(await two.texts(id), [`of ${id}`]);
    }
  });

  test("a machine stores nothing of another machine's attempt", async () => {
    await beginAttempt(one.store, 'T', 'two');
    const log = await openLog(one, 'T');
    await say(log, 'a');
    await log.close();
    await stored(one, 'T');
    assert.deepEqual(await partsOf('T'), []);
  });
});
