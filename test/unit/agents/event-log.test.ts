// The event log: appended events are read back, its size stays bounded, and a crash neither loses
// nor repeats events.

import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEventLog } from '../../../server/agents/kit/log/event-log.ts';
import {
  logSize,
  type LogPage,
  readLog,
  readLogBefore,
  readLogTail,
} from '../../../server/agents/kit/log/event-log-reader.ts';
import type { AgentEvent } from '../../../server/protocol/agent-events.ts';
import { removeFolder } from '../../remove-folder.ts';

const output = (text: string): AgentEvent => ({ type: 'output', stream: 'stdout', text });

suite('event log', () => {
  let folder: string;
  let path: string;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-log-'));
    path = join(folder, 'part.ndjson');
  });
  teardown(() => removeFolder(folder));

  function texts(fromOffset = 0): string[] {
    const page = readLog(path, { fromOffset, limit: 1_000_000 });
    assert.ok(page.atEnd);
    return page.events.map((event) => ('text' in event ? event.text : event.type));
  }
  function bytesOnDisk(): number {
    return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  }

  test('appended events are read back with their time', async () => {
    const log = openEventLog(path, { maxBytes: 1e6, now: () => 17 });
    log.append(output('eins'));
    log.append({ type: 'exit', code: 0, signal: null });
    await log.close();
    assert.deepEqual(readLog(path, { fromOffset: 0, limit: 10 }).events, [
      { at: 17, type: 'output', stream: 'stdout', text: 'eins' },
      { at: 17, type: 'exit', code: 0, signal: null },
    ]);
  });

  test('on Linux, a log that cannot be written reports it, and leaves no file open', async () => {
    if (process.platform !== 'linux') return;
    symlinkSync('/dev/full', path);
    const isOurs = (fd: string): boolean => {
      const target = join('/proc/self/fd', fd);
      return existsSync(target) && ['/dev/full', `${path}.marks`].includes(readlinkSync(target));
    };
    const log = openEventLog(path, { maxBytes: 1e6 });
    log.append(output('eins'));
    await assert.rejects(log.close(), /ENOSPC/);
    assert.deepEqual(readdirSync('/proc/self/fd').filter(isOurs), []);
  });

  test('a missing log is an empty one', () => {
    assert.deepEqual(readLog(path, { fromOffset: 0, limit: 10 }), {
      events: [],
      offset: 0,
      nextOffset: 0,
      size: 0,
      atEnd: true,
    });
    assert.deepEqual(readLogBefore(path, { before: 99, limit: 10 }), {
      events: [],
      offset: 0,
      nextOffset: 0,
      size: 0,
      atEnd: true,
    });
  });

  /** The whole log, read backwards in pages, the last one first. */
  function pagesBack(limit: number, bytesMax?: number): LogPage[] {
    const pages: LogPage[] = [];
    let before = Number.MAX_SAFE_INTEGER;
    for (let guard = 0; guard < 10_000; guard += 1) {
      const bound = bytesMax === undefined ? {} : { bytesMax };
      const page = readLogBefore(path, { before, limit, ...bound });
      if (page.events.length === 0) break;
      if (pages.length > 0) assert.equal(page.nextOffset, before, 'no gap, no repetition');
      assert.ok(page.offset < page.nextOffset);
      pages.push(page);
      before = page.offset;
    }
    assert.equal(before, 0);
    return pages;
  }

  const backwards: readonly [string, number, number, number | undefined][] = [
    ['pages of seven', 100, 7, undefined],
    ['pages larger than the log', 20, 1_000, undefined],
    ['pages bounded by bytes', 100, 1_000, 200],
    ['more than a window', 5_000, 2_000, undefined],
  ];
  for (const [name, lines, limit, bytesMax] of backwards) {
    test(`reading backwards gives the same log: ${name}`, async () => {
      const log = openEventLog(path, { maxBytes: 1e7 });
      for (let n = 0; n < lines; n++) log.append(output(`line ${n} ümläut`));
      await log.close();
      const all = readLog(path, { fromOffset: 0, limit: 1e6 }).events;
      const pages = pagesBack(limit, bytesMax);
      assert.deepEqual(
        pages.toReversed().flatMap((page) => page.events),
        all,
      );
      assert.ok(pages.every((page) => page.events.length <= limit));
      assert.equal(pages[0]?.atEnd, true);
      if (bytesMax !== undefined) assert.ok(pages.length > 3);
    });
  }

  test('when read backwards, a line longer than a page arrives whole, and the note of a gap arrives once', async () => {
    const log = openEventLog(path, { maxBytes: 20_000 });
    log.append(output('first'));
    log.append(output('x'.repeat(3_000)));
    for (let n = 0; n < 2_000; n++) log.append(output(`line ${n}`));
    await log.close();
    const all = readLog(path, { fromOffset: 0, limit: 1e6 }).events;
    for (const limit of [1, 5, 1_000]) {
      const back = pagesBack(limit, 100)
        .toReversed()
        .flatMap((page) => page.events);
      assert.equal(back.length, all.length);
      assert.deepEqual(
        back.map((event) => ('text' in event ? event.text : '')),
        all.map((event) => ('text' in event ? event.text : '')),
      );
    }
  });

  test('a page that ends inside a line ends before it', async () => {
    const log = openEventLog(path, { maxBytes: 1e6 });
    log.append(output('one'));
    log.append(output('two'));
    await log.close();
    const size = logSize(path);
    const page = readLogBefore(path, { before: size - 1, limit: 10 });
    assert.equal(page.events.length, 1);
    assert.ok(page.nextOffset < size - 1 && !page.atEnd && page.size === size);
  });

  test('pages follow each other without gaps or repetitions', async () => {
    const log = openEventLog(path, { maxBytes: 1e6 });
    for (let n = 0; n < 100; n++) log.append(output(`line ${n} ümläut`));
    await log.close();
    const seen: string[] = [];
    let offset = 0;
    for (;;) {
      const page = readLog(path, { fromOffset: offset, limit: 7 });
      seen.push(...page.events.map((event) => (event.type === 'output' ? event.text : '?')));
      offset = page.nextOffset;
      if (page.atEnd) break;
    }
    assert.equal(seen.length, 100);
    assert.equal(seen[99], 'line 99 ümläut');
    assert.equal(offset, logSize(path));
  });

  test('a log keeps its head and tail within the limit and reports how many bytes are missing', async () => {
    const maxBytes = 20_000;
    const log = openEventLog(path, { maxBytes });
    const lines = Array.from({ length: 5_000 }, (_, n) => `line ${String(n).padStart(5, '0')}`);
    for (const line of lines) {
      log.append(output(line));
      if (log.pendingBytes > 3_000) await log.flush();
    }
    await log.close();
    // Marks and the headers of two segments are added to that.
    assert.ok(bytesOnDisk() <= maxBytes + 500, `${bytesOnDisk()} bytes`);
    const kept = texts();
    assert.equal(kept[0], 'line 00000');
    assert.equal(kept.at(-1), 'line 04999');
    const keptLines = kept.filter((text) => text.startsWith('line '));
    const missing = (lines.length - keptLines.length) * 'line 00000\n'.length;
    const notes = kept.filter((text) => !text.startsWith('line '));
    assert.deepEqual(notes, [
      `${missing} bytes of output are missing here: the log reached its limit, so its middle was dropped.`,
    ]);
    assert.deepEqual(
      readLogTail(path, 3).events.map((event) => (event.type === 'output' ? event.text : '?')),
      ['line 04997', 'line 04998', 'line 04999'],
    );
  });

  test('a follower sees each line once while the log rolls', async () => {
    const log = openEventLog(path, { maxBytes: 20_000 });
    const seen: string[] = [];
    let offset = 0;
    for (let n = 0; n < 1_000; n++) {
      log.append(output(`n${n}`));
      if (n % 10 !== 9) continue;
      await log.flush();
      const page = readLog(path, { fromOffset: offset, limit: 1_000 });
      offset = page.nextOffset;
      seen.push(...page.events.map((event) => (event.type === 'output' ? event.text : '?')));
    }
    await log.close();
    assert.deepEqual(
      seen,
      Array.from({ length: 1_000 }, (_, n) => `n${n}`),
    );
  });

  test('an event longer than a log segment is cut in the middle', async () => {
    const log = openEventLog(path, { maxBytes: 4_096 });
    log.append(output(`begin${'x'.repeat(50_000)}end`));
    log.append({
      type: 'tool_call',
      id: '1',
      name: 'W',
      title: 'W',
      input: { a: '\0'.repeat(9_000) },
    });
    await log.close();
    const [first, second] = readLog(path, { fromOffset: 0, limit: 10 }).events;
    assert.ok(first?.type === 'output' && second?.type === 'tool_call');
    assert.match(first.text, /^beginx+ …\[\d+ bytes omitted\]… x+end$/);
    assert.ok(bytesOnDisk() < 5_000);
  });

  test('after a crash, unmarked lines are cut off, and marks of the raw output stay', async () => {
    const dead = openEventLog(path, { maxBytes: 1e6 });
    dead.append(output('one'));
    dead.mark({ stdout: 4 });
    await dead.flush();
    appendFileSync(path, '{"at":1,"type":"output","stream":"stdout","text":"two"}\n{"at":1,"ty');
    const next = openEventLog(path, { maxBytes: 1e6 });
    assert.deepEqual(next.marks, { stdout: 4, stderr: 0 });
    next.append(output('two'));
    await next.close();
    assert.deepEqual(texts(), ['one', 'two']);
    await dead.close();
  });

  test('a log whose marks are missing is kept', async () => {
    const log = openEventLog(path, { maxBytes: 1e6 });
    log.append(output('one'));
    await log.close();
    rmSync(`${path}.marks`);
    await openEventLog(path, { maxBytes: 1e6 }).close();
    assert.deepEqual(texts(), ['one']);
  });

  test('after a crash in the tail, the log continues at its end', async () => {
    const maxBytes = 8_000;
    let log = openEventLog(path, { maxBytes });
    for (let n = 0; n < 400; n++) {
      log.append(output(`n${n}`));
      if (n % 37 === 0) {
        await log.flush();
        await log.close();
        log = openEventLog(path, { maxBytes });
      }
    }
    await log.close();
    const kept = texts();
    assert.equal(kept[0], 'n0');
    assert.equal(kept.at(-1), 'n399');
    const numbers = kept.flatMap((text) => (text.startsWith('n') ? [Number(text.slice(1))] : []));
    const gaps = numbers.filter((n, at) => at > 0 && n !== (numbers[at - 1] ?? 0) + 1);
    assert.equal(gaps.length, 1);
    assert.ok(bytesOnDisk() <= maxBytes + 500);
  });
});
