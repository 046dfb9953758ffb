// The feed on real log files, read as by the backend: forwards, backwards, and across a middle that
// was dropped.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readLog, readLogBefore } from '../../../../server/agents/kit/log/event-log-reader.ts';
import { openEventLog, type EventLog } from '../../../../server/agents/kit/log/event-log.ts';
import { entryText } from '../../../../webview/shared/log/entry-text.ts';
import { LogFeed } from '../../../../webview/shared/log/log-feed.ts';
import {
  sleep,
  type LogReadParams,
  type LogReadResult,
} from '../../../../webview/shared/log/read-log.ts';
import { removeFolder } from '../../../remove-folder.ts';

suite('log feed on real files', () => {
  let folder: string;
  let path: string;
  let log: EventLog;
  let feed: LogFeed;

  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-stream-'));
    path = join(folder, '1.ndjson');
  });

  teardown(async () => {
    feed.stop();
    await log.close();
    removeFolder(folder);
  });

  const read = async (params: LogReadParams): Promise<LogReadResult> => {
    const limit = params.limit ?? 5_000;
    const page =
      params.before === undefined
        ? readLog(path, { fromOffset: params.offset ?? 0, limit })
        : readLogBefore(path, { before: params.before, limit });
    return {
      task_id: params.id,
      attempt: 1,
      events: page.events,
      offset: page.offset,
      next_offset: page.nextOffset,
      size: page.size,
      ended: false,
    };
  };

  async function write(from: number, to: number): Promise<void> {
    for (let index = from; index < to; index += 1) {
      log.append({ type: 'text', text: `über ${index}` });
      if (index % 500 === 0) await log.flush();
    }
    await log.flush();
  }

  async function open(maxBytes: number, lines: number): Promise<void> {
    log = openEventLog(path, { maxBytes, now: () => 1 });
    await write(0, lines);
    let opened: () => void = () => {};
    const isOpen = new Promise<void>((done) => {
      opened = done;
    });
    feed = new LogFeed({
      id: 't',
      attempt: 0,
      firstKey: 0,
      read,
      onChange: () => {
        if (feed.isOpen) opened();
      },
      onFailure: (error) => {
        if (error !== null) throw error;
      },
      sleep: (ms, signal) => sleep(ms > 20_000 ? ms : 1, signal),
      farSide: () => 'back',
    });
    void feed.run(null);
    await isOpen;
  }

  const texts = (): string[] => feed.window.transcript.entries.map(entryText);

  test('it reads everything backward, without gaps or duplicates', async () => {
    await open(64 * 1024 * 1024, 5_000);
    while (feed.hasOlder) assert.ok(await feed.readOlder());
    assert.deepEqual(
      texts(),
      Array.from({ length: 5_000 }, (_, index) => `über ${index}`),
    );
  });

  test('a dropped middle is one note, from both sides', async () => {
    await open(64 * 1024, 5_000);
    while (feed.hasOlder) assert.ok(await feed.readOlder());
    const all = texts();
    const notes = all.filter((text) => !text.startsWith('über'));
    assert.equal(notes.length, 1, notes.join('\n'));
    assert.match(notes[0] ?? '', /bytes/);
    assert.equal(all[0], 'über 0');
    assert.equal(all.at(-1), 'über 4999');
    const numbers = all
      .filter((text) => text.startsWith('über'))
      .map((text) => Number(text.slice(5)));
    const jumps = numbers.filter(
      (number, index) => index > 0 && number !== (numbers[index - 1] ?? 0) + 1,
    );
    assert.equal(jumps.length, 1);
  });

  test('it follows while segments appear and disappear', async () => {
    await open(64 * 1024, 100);
    for (let from = 100; from < 3_000; from += 100) {
      await write(from, from + 100);
      await sleep(1, new AbortController().signal);
    }
    for (let tries = 0; texts().at(-1) !== 'über 2999' && tries < 2_000; tries += 1) {
      await sleep(1, new AbortController().signal);
    }
    assert.equal(texts().at(-1), 'über 2999');
  });
});
