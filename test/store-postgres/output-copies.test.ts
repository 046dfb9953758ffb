// Copies of agents' output on the disks of readers: they are made quickly and repaired, and missing
// sources are reported.

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
import { deleteOldParts, outputKeptMs } from '../../server/store/feed/log-parts.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { refusalOf } from '../unit/store/memory-store.ts';
import { run, testDatabases } from './databases.ts';
import {
  assertSameFiles,
  beginAttempt,
  closeMachines,
  endAttempt,
  fileOf,
  type Machine,
  openLog,
  openMachine,
  say,
  stored,
} from './output-machines.ts';
import { tablesOf } from '../tables.ts';

suite("postgres: copies of agents' output", function () {
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

  test('a log of very many small chunks is copied in one step', async () => {
    await beginAttempt(one.store, 'T', 'gone');
    const line = `'{"at":1,"type":"text","text":"' || to_char(n, 'FM00000') || E'"}\\n'`;
    await run(
      url,
      `insert into log_parts (file, start, size, text, at_ms)
       select 'T/1.ndjson', n * length(${line}), length(${line}), ${line}, 1
       from generate_series(0, 9999) as n`,
    );
    const texts = await two.texts('T');
    assert.deepEqual([texts.length, texts[0], texts[9_999]], [10_000, '00000', '09999']);
  });

  const spoil: Readonly<Record<string, (path: string, size: number) => void>> = {
    'was cut in the middle of a line': (path, size) => truncateSync(path, size - 700),
    'was cut at its beginning': (path) => truncateSync(path, 10),
    'is empty': (path) => truncateSync(path, 0),
    'ends with what a power cut leaves': (path, size) => {
      truncateSync(path, size - 300);
      truncateSync(path, size);
    },
    'holds more than is stored': (path) => appendFileSync(path, '{"type":"text","text":"no"}\n'),
    'is another one': (path) => writeFileSync(path, '{"type":"text","text":"no"}\n'),
  };
  for (const [what, doIt] of Object.entries(spoil)) {
    test(`a copy that ${what} is repaired`, async () => {
      await beginAttempt(one.store, 'T', 'one');
      const log = await openLog(one, 'T');
      for (let part = 0; part < 3; part += 1) {
        await say(
          log,
          ...Array.from({ length: 5 }, (_, line) => `${part}/${line} ${'x'.repeat(200)}`),
        );
        await stored(one, 'T');
      }
      await two.texts('T');
      const path = join(two.logs, fileOf('T'));
      doIt(path, readFileSync(path).length);
      // A process that starts: one that has copied a log remembers the end of its copy.
      const next = await openMachine(url, 'two', { logs: two.logs, ships: false });
      assert.deepEqual(await next.texts('T'), await one.texts('T'));
      assertSameFiles(one, next, 'T');
      await log.close();
    });
  }

  test('two readers and two concurrent processes get the same copy', async () => {
    await beginAttempt(one.store, 'T', 'one');
    const log = await openLog(one, 'T');
    const beside = await openMachine(url, 'two', { logs: two.logs, ships: false });
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

  test('an earlier log with that name on the reader is moved aside completely', async () => {
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

  test('nothing is kept of attempts that ended long ago, and readers are informed', async () => {
    const now = Date.now();
    const long = now - outputKeptMs - 1;
    const ends = { old: long, half: long, new: now, open: null };
    for (const [id, endedAt] of Object.entries(ends)) {
      await beginAttempt(one.store, id, 'one');
      const log = await openLog(one, id);
      await say(log, 'a');
      await stored(one, id);
      if (id === 'half') {
        await two.texts(id);
        await say(log, 'b');
        await stored(one, id);
      }
      await log.close();
      if (endedAt !== null) await endAttempt(one.store, id, endedAt);
    }
    await tablesOf(one.store.db)
      .updateTable('log_parts')
      .set({ at_ms: now - outputKeptMs - 5 })
      .execute();
    assert.equal(await deleteOldParts(one.store.db, now - outputKeptMs), 2);
    assert.equal(await deleteOldParts(one.store.db, now - outputKeptMs), 0);
    const refusal = await refusalOf(two.read('old'));
    assert.equal(refusal.kind, 'output_gone');
    assert.match(refusal.message, /old in attempt 1 .* 7 days .* machine one .*old\/1\.ndjson\.$/);
    const half = await refusalOf(two.read('half'));
    assert.match(half.message, /half\/1\.ndjson; the same file here holds its beginning\.$/);
    assert.deepEqual(await one.texts('old'), ['a'], 'its own machine has it');
    for (const id of ['new', 'open']) assert.deepEqual(await two.texts(id), ['a']);
    // A copy that was made in time stays for the attempt that has ended, but not for the one that
    // continued.
    await tablesOf(one.store.db).updateTable('attempts').set({ ended_at_ms: 1 }).execute();
    assert.equal(await deleteOldParts(one.store.db, now - outputKeptMs), 2);
    assert.deepEqual(await two.texts('new'), ['a']);
    await run(url, "update attempts set state = 'failed'");
    assert.equal((await refusalOf(two.texts('open'))).kind, 'output_gone');
    assert.equal(existsSync(join(two.logs, fileOf('old'))), false);
  });

  test('the next start does not store deleted chunks again', async () => {
    const long = Date.now() - outputKeptMs - 1;
    for (const id of ['old', 'new']) {
      await beginAttempt(one.store, id, 'one');
      await endAttempt(one.store, id, id === 'old' ? long : Date.now());
    }
    await one.close();
    const idle = await openMachine(url, 'one', { logs: one.logs, ships: false });
    for (const id of ['old', 'new']) {
      const log = await openLog(idle, id);
      await say(log, 'a');
      await log.close();
    }
    await openMachine(url, 'one', { logs: one.logs });
    const isStored = async (): Promise<boolean> => (await two.texts('new')).length > 0;
    await eventually('the next start has stored what is missing', isStored);
    const files = await tablesOf(two.store.db).selectFrom('log_parts').select('file').execute();
    assert.deepEqual(files, [{ file: 'new/1.ndjson' }]);
  });
});
