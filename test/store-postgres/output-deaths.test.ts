// No agents' output is lost when the process that stores it, the database or a connection dies.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { EventLog } from '../../server/agents/kit/log/event-log.ts';
import { readLogTail } from '../../server/agents/kit/log/event-log-reader.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { run } from './databases.ts';
import type { OutputChildOrders } from './output-child.ts';
import {
  assertSameFiles,
  beginAttempt,
  closeMachines,
  fileOf,
  type Machine,
  newFolder,
  openLog,
  openMachine,
  say,
  stored,
} from './output-machines.ts';

const program = fileURLToPath(new URL('output-child.ts', import.meta.url));

/** Kills the process after this many pages of its output have been read elsewhere. */
async function writeUntilKilled(
  orders: OutputChildOrders,
  reader: Machine,
  pages: number,
): Promise<void> {
  const child = spawn(process.execPath, [program, JSON.stringify(orders)], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  const [id = ''] = orders.tasks;
  let { size: offset } = await reader.read(id, { before: Number.MAX_SAFE_INTEGER, limit: 1 });
  for (let page = 0; page < pages; page += 1) {
    ({ next_offset: offset } = await reader.read(id, { offset, wait_ms: 30_000 }));
  }
  child.kill('SIGKILL');
  const [, signal] = await ended;
  assert.equal(signal, 'SIGKILL');
}

suite("postgres: agents' output survives", function () {
  this.timeout(120_000);
  let server: PostgresServer;
  let url: string;
  let databases = 0;

  suiteSetup(async () => {
    server = await startPostgres();
  });
  suiteTeardown(() => server.close());
  setup(async () => {
    url = await server.createDatabase(`deaths_${(databases += 1)}`);
  });
  teardown(closeMachines);

  const open = (id: string, logs = newFolder()): Promise<Machine> => openMachine(url, id, { logs });

  const linesOf = (texts: readonly string[]): number[] =>
    texts.map((text) => Number(text.split(' ')[1]));

  function assertWholeLog(texts: readonly string[], atLeast: number): void {
    const lines = linesOf(texts);
    assert.ok(lines.length >= atLeast, `${lines.length} of ${atLeast}`);
    assert.deepEqual(
      lines,
      Array.from(lines, (_, index) => index),
    );
  }

  test('it survives three kills of the process that stores it', async () => {
    const reader = await open('reader');
    const tasks = ['a', 'b', 'c', 'd'];
    for (const id of tasks) await beginAttempt(reader.store, id, 'one');
    const logs = newFolder();
    const orders = { url, machine: 'one', logs, tasks, linesAtOnce: 50 };
    await writeUntilKilled(orders, reader, 5);
    for (const id of tasks) assertWholeLog(await reader.texts(id), 1);
    // Each restart of the process counts from the beginning again, which identifies its output.
    await writeUntilKilled(orders, reader, 3);
    await writeUntilKilled(orders, reader, 1);
    const next = await open('one', logs);
    for (const id of tasks) {
      const log = await openLog(next, id);
      await say(log, 'line 0 end');
      await log.close();
      await stored(next, id);
      const texts = await reader.texts(id);
      assert.deepEqual(texts, await next.texts(id));
      const starts = texts.flatMap((text, index) => (text.startsWith('line 0 ') ? [index] : []));
      assert.equal(starts.length, 4);
      const lives = starts.map((start, life) => texts.slice(start, starts[life + 1]));
      for (const life of lives) assertWholeLog(life, 1);
      assertSameFiles(next, reader, id);
    }
    assert.deepEqual(next.reports, []);
  });

  test('it survives restarts of the database while sixteen agents write', async () => {
    const writer = await open('one');
    const reader = await open('two');
    const tasks = Array.from({ length: 16 }, (_, number) => `t${number}`);
    for (const id of tasks) await beginAttempt(writer.store, id, 'one');
    const logs = await Promise.all(tasks.map((id) => openLog(writer, id)));
    let line = 0;
    const write = async (rounds: number): Promise<void> => {
      for (let round = 0; round < rounds; round += 1) {
        for (const log of logs) append(log, line, 100);
        line += 100;
        await Promise.all(logs.map((log) => log.flush()));
      }
    };
    await write(5);
    const writing = write(40);
    for (const signal of ['SIGKILL', 'SIGINT'] as const) {
      await server.stop(signal);
      await write(5);
      await server.start();
    }
    await writing;
    await write(5);
    for (const log of logs) await log.close();
    for (const id of tasks) {
      await stored(writer, id);
      assertSameLines(await reader.texts(id), line);
      assertSameFiles(writer, reader, id);
    }
    // Each outage of the database is reported once.
    assert.ok(writer.reports.length > 0 && writer.reports.length <= 3, writer.reports.join('\n'));
    for (const report of writer.reports) assert.match(report, /^storing agents' output: Postgres/);
  });

  test('it survives connections that are cut while it is stored and read', async () => {
    const writer = await open('one');
    const reader = await open('two');
    await beginAttempt(writer.store, 'T', 'one');
    const log = await openLog(writer, 'T');
    for (let round = 0; round < 20; round += 1) {
      append(log, round * 100, 100);
      await log.flush();
      const storing = stored(writer, 'T');
      await run(
        server.url('postgres'),
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'drover'`,
      );
      await storing;
    }
    await log.close();
    const { size } = readLogTail(join(writer.logs, fileOf('T')), 1);
    const page = await reader.read('T', { offset: size, wait_ms: 1_000 });
    assert.equal(page.size, size);
    assertSameLines(await reader.texts('T'), 2_000);
    assertSameFiles(writer, reader, 'T');
  });

  test('sixteen agents with a thousand lines a second lose nothing, and no reader waits for the end', async () => {
    const writer = await open('one');
    const reader = await open('two');
    const tasks = Array.from({ length: 16 }, (_, number) => `t${number}`);
    for (const id of tasks) await beginAttempt(writer.store, id, 'one');
    const logs = await Promise.all(tasks.map((id) => openLog(writer, id)));
    const seen = new Map(tasks.map((id) => [id, 0]));
    const lines = 4_000;
    const follow = async (id: string): Promise<void> => {
      for (let offset = 0; (seen.get(id) ?? 0) < lines;) {
        const page = await reader.read(id, { offset, wait_ms: 30_000 });
        for (const event of page.events) {
          assert.equal(
            Number(String('text' in event ? event.text : '').split(' ')[1]),
            seen.get(id),
          );
          seen.set(id, (seen.get(id) ?? 0) + 1);
        }
        offset = page.next_offset;
      }
    };
    const following = Promise.all(tasks.map(follow));
    const pace = setInterval(() => {
      for (const log of logs) if (written < lines) append(log, written, 50);
      written += 50;
      if (written >= lines) clearInterval(pace);
    }, 50);
    let written = 0;
    await following;
    for (const log of logs) await log.close();
    for (const id of tasks) assertSameFiles(writer, reader, id);
    assert.deepEqual(writer.reports, []);
  });

  function append(log: EventLog, from: number, count: number): void {
    for (let line = from; line < from + count; line += 1)
      log.append({ type: 'text', text: `line ${line} ${'y'.repeat(100)}` });
  }

  /** All lines, each once; if a test has several writers, their lines may be in another order. */
  function assertSameLines(texts: readonly string[], count: number): void {
    const lines = linesOf(texts).toSorted((a, b) => a - b);
    assert.equal(lines.length, count);
    assert.deepEqual([lines[0], lines.at(-1), new Set(lines).size], [0, count - 1, count]);
  }
});
