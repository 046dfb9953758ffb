// The event log: what is appended is read back, the bound holds, a crash loses and repeats nothing.

import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEventLog } from '../../../server/agents/event-log.ts';
import {
  droppedBytes,
  logSize,
  readLog,
  readLogTail,
} from '../../../server/agents/event-log-reader.ts';
import type { AgentEvent } from '../../../server/agents/port.ts';

const output = (text: string): AgentEvent => ({ type: 'output', stream: 'stdout', text });

suite('event log', () => {
  let folder: string;
  let path: string;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-log-'));
    path = join(folder, 'part.ndjson');
  });
  teardown(() => rmSync(folder, { recursive: true, force: true }));

  function texts(fromOffset = 0): string[] {
    const page = readLog(path, { fromOffset, limit: 1_000_000 });
    assert.ok(page.atEnd);
    return page.events.map((event) => ('text' in event ? event.text : event.type));
  }
  function bytesOnDisk(): number {
    return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  }

  test('reads back what was appended, with its time', async () => {
    const log = await openEventLog(path, { maxBytes: 1e6, now: () => 17 });
    log.append(output('eins'));
    log.append({ type: 'exit', code: 0, signal: null });
    await log.close();
    assert.deepEqual(readLog(path, { fromOffset: 0, limit: 10 }).events, [
      { at: 17, type: 'output', stream: 'stdout', text: 'eins' },
      { at: 17, type: 'exit', code: 0, signal: null },
    ]);
  });

  test('an absent log is an empty one', () => {
    assert.deepEqual(readLog(path, { fromOffset: 0, limit: 10 }), {
      events: [],
      nextOffset: 0,
      atEnd: true,
    });
  });

  test('pages follow each other without a gap or a repetition', async () => {
    const log = await openEventLog(path, { maxBytes: 1e6 });
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

  test('keeps head and tail within the bound and says how many bytes are missing', async () => {
    const maxBytes = 20_000;
    const log = await openEventLog(path, { maxBytes });
    const lines = Array.from({ length: 5_000 }, (_, n) => `line ${String(n).padStart(5, '0')}`);
    for (const line of lines) {
      log.append(output(line));
      if (log.pendingBytes > 3_000) await log.flush();
    }
    await log.close();
    // Marks and the headers of two segments come on top.
    assert.ok(bytesOnDisk() <= maxBytes + 500, `${bytesOnDisk()} bytes`);
    const kept = texts();
    assert.equal(kept[0], 'line 00000');
    assert.equal(kept.at(-1), 'line 04999');
    const keptLines = kept.filter((text) => text.startsWith('line '));
    const missing = (lines.length - keptLines.length) * 'line 00000\n'.length;
    const notes = kept.filter((text) => !text.startsWith('line '));
    assert.deepEqual(notes, [
      `${missing} bytes of output are not kept here: the log reached its limit, so its middle is left out.`,
    ]);
    assert.equal(droppedBytes(path), missing);
    assert.deepEqual(
      readLogTail(path, 3).events.map((event) => (event.type === 'output' ? event.text : '?')),
      ['line 04997', 'line 04998', 'line 04999'],
    );
  });

  test('a follower sees each line once while the log rolls', async () => {
    const log = await openEventLog(path, { maxBytes: 20_000 });
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

  test('an event longer than a part of the log is cut in its middle', async () => {
    const log = await openEventLog(path, { maxBytes: 4_096 });
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
    assert.match(first.text, /^beginx+ …\[\d+ bytes are not kept\]… x+end$/);
    assert.ok(bytesOnDisk() < 5_000);
  });

  test('after a crash: what was not marked is cut off, marks of the raw output stay', async () => {
    const dead = await openEventLog(path, { maxBytes: 1e6 });
    dead.append(output('one'));
    dead.mark({ stdout: 4 });
    await dead.flush();
    appendFileSync(path, '{"at":1,"type":"output","stream":"stdout","text":"two"}\n{"at":1,"ty');
    const next = await openEventLog(path, { maxBytes: 1e6 });
    assert.deepEqual(next.marks, { stdout: 4, stderr: 0 });
    next.append(output('two'));
    await next.close();
    assert.deepEqual(texts(), ['one', 'two']);
    await dead.close();
  });

  test('a log whose marks are gone is kept', async () => {
    const log = await openEventLog(path, { maxBytes: 1e6 });
    log.append(output('one'));
    await log.close();
    rmSync(`${path}.marks`);
    await (await openEventLog(path, { maxBytes: 1e6 })).close();
    assert.deepEqual(texts(), ['one']);
  });

  test('after a crash in the tail the log goes on where it was', async () => {
    const maxBytes = 8_000;
    let log = await openEventLog(path, { maxBytes });
    for (let n = 0; n < 400; n++) {
      log.append(output(`n${n}`));
      if (n % 37 === 0) {
        await log.flush();
        await log.close();
        log = await openEventLog(path, { maxBytes });
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
