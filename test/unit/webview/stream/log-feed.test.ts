// A feed opens at the end, follows new output, pages in both directions, and survives the end of
// the backend.

import assert from 'node:assert/strict';
import { FakeLog, outputLine, outputLines } from '../../../webview/stream/fake-log.ts';
import {
  endOfLog,
  LogFeed,
  type LogFeedParts,
  type LogPlace,
} from '../../../../webview/shared/log/log-feed.ts';
import { windowEventsMax, type WindowSide } from '../../../../webview/shared/log/log-window.ts';
import { sleep } from '../../../../webview/shared/log/read-log.ts';

interface Opened {
  readonly feed: LogFeed;
  readonly failures: (string | null)[];
  until(what: string, look: () => boolean): Promise<void>;
  side: WindowSide;
}

const feeds: LogFeed[] = [];
teardown(() => {
  for (const feed of feeds.splice(0)) feed.stop();
});

async function open(
  log: FakeLog,
  place: LogPlace | null = null,
  change: Partial<LogFeedParts> = {},
): Promise<Opened> {
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  const failures: (string | null)[] = [];
  const opened: Opened = {
    feed: new LogFeed({
      id: 'task',
      attempt: 0,
      firstKey: 0,
      read: (params) => log.read(params),
      onChange: tell,
      onFailure: (error) => {
        failures.push(error?.message ?? null);
        tell();
      },
      // Pauses take only one turn of the event loop.
      sleep: (ms, signal) => sleep(ms > 20_000 ? ms : 1, signal),
      farSide: () => opened.side,
      ...change,
    }),
    failures,
    side: 'front',
    until: (what, look) =>
      new Promise((done, fail) => {
        const timer = setTimeout(() => fail(new Error(`still not: ${what}`)), 5_000);
        const check = (): void => {
          if (!look()) return;
          clearTimeout(timer);
          listeners.delete(check);
          done();
        };
        listeners.add(check);
        check();
      }),
  };
  feeds.push(opened.feed);
  void opened.feed.run(place);
  await opened.until('the feed is open', () => opened.feed.isOpen || failures.length > 0);
  return opened;
}

const lastText = ({ feed }: Opened): string => {
  const body = feed.window.transcript.entries.at(-1)?.body;
  return body?.kind === 'output' ? (body.lines.at(-1) ?? '') : '';
};
const firstText = ({ feed }: Opened): string => {
  const body = feed.window.transcript.entries[0]?.body;
  return body?.kind === 'output' ? (body.lines[0] ?? '') : '';
};

suite('log feed', () => {
  test('it reads the end of a long log first, in one request', async () => {
    const log = new FakeLog(outputLines(100_000));
    const opened = await open(log);
    assert.equal(lastText(opened), 'line 99999');
    assert.ok(opened.feed.window.eventCount <= 300);
    assert.ok(log.asked.length <= 2);
    assert.ok(opened.feed.hasOlder);
  });

  test('a page that was requested ahead is not requested again, unless it failed', async () => {
    for (const fails of [false, true]) {
      const log = new FakeLog(outputLines(1_000));
      const { events, ...page } = await log.read({ id: 'task', before: endOfLog, limit: 300 });
      const ahead = fails
        ? Promise.reject(new Error('gone'))
        : Promise.resolve({ ...page, events });
      ahead.catch(() => undefined);
      const opened = await open(log, null, { ahead });
      assert.equal(lastText(opened), 'line 999');
      assert.equal(opened.feed.window.eventCount, 300);
      const asked = log.asked.filter(({ before }) => before !== undefined).length;
      assert.equal(asked, fails ? 2 : 1);
      assert.deepEqual(opened.failures, [null]);
    }
  });

  test('it follows new lines, with one poll at a time', async () => {
    const log = new FakeLog(outputLines(10));
    const opened = await open(log);
    for (let index = 10; index < 200; index += 1) log.write(outputLine(index));
    await opened.until('the last line', () => lastText(opened) === 'line 199');
    assert.equal(opened.feed.window.eventCount, 200);
    assert.ok(
      log.asked.every((params) => params.before !== undefined || params.wait_ms !== undefined),
    );
  });

  test('it pages backward to the start without a gap', async () => {
    const opened = await open(new FakeLog(outputLines(3_000)));
    while (opened.feed.hasOlder) assert.ok(await opened.feed.readOlder());
    assert.equal(firstText(opened), 'line 0');
    assert.equal(opened.feed.window.eventCount, 3_000);
    assert.equal(await opened.feed.readOlder(), false);
  });

  test('it keeps to its limit when a person reads far above, and returns to the end', async () => {
    const opened = await open(new FakeLog(outputLines(60_000)));
    opened.side = 'back';
    while (opened.feed.hasOlder) {
      await opened.feed.readOlder();
      assert.ok(opened.feed.window.eventCount <= windowEventsMax + 500);
    }
    assert.equal(firstText(opened), 'line 0');
    assert.equal(opened.feed.isAtEnd, false);
    opened.side = 'front';
    while (!opened.feed.isAtEnd) {
      assert.ok(await opened.feed.readNewer());
      assert.ok(opened.feed.window.eventCount <= windowEventsMax + 500);
    }
    assert.equal(lastText(opened), 'line 59999');
  });

  test('it counts arriving lines while the end is not loaded, and jumps to it', async () => {
    const log = new FakeLog(outputLines(60_000));
    const opened = await open(log);
    opened.side = 'back';
    while (opened.feed.hasOlder) await opened.feed.readOlder();
    log.write(...outputLines(30, 60_000));
    await opened.until('30 unseen', () => opened.feed.unseenEvents === 30);
    await opened.feed.jumpToEnd();
    assert.equal(lastText(opened), 'line 60029');
    assert.equal(opened.feed.unseenEvents, 0);
    log.write(outputLine(60_030));
    await opened.until('it follows again', () => lastText(opened) === 'line 60030');
  });

  test('it follows a flood within its limit', async () => {
    const log = new FakeLog(outputLines(100));
    const opened = await open(log);
    for (let index = 0; index < 30; index += 1)
      log.write(...outputLines(2_000, 100 + index * 2_000));
    await opened.until('the end', () => lastText(opened) === 'line 60099');
    assert.ok(opened.feed.window.eventCount <= windowEventsMax + 2_000);
  });

  test('it opens at the previous position and still learns of the end', async () => {
    const log = new FakeLog(outputLines(5_000));
    const half = (await log.read({ id: 'task', before: log.size, limit: 2_500 })).offset;
    const opened = await open(log, { offset: half, index: 0 });
    assert.equal(firstText(opened), 'line 2500');
    assert.equal(opened.feed.isAtEnd, false);
    log.write(outputLine(5_000));
    await opened.until('the new line is counted', () => opened.feed.unseenEvents === 1);
  });

  test('it continues when the backend is back', async () => {
    const log = new FakeLog(outputLines(10));
    log.failure = new Error('no backend');
    const opened = await open(log);
    assert.equal(opened.failures[0], 'no backend');
    log.failure = null;
    await opened.until('open', () => opened.feed.isOpen);
    log.failure = new Error('gone again');
    log.write(outputLine(10));
    await opened.until('told', () => opened.failures.includes('gone again'));
    log.failure = null;
    await opened.until('the line', () => lastText(opened) === 'line 10');
    await opened.until('all is well', () => opened.failures.at(-1) === null);
  });

  test('it repeats a request when the answer was lost', async () => {
    const log = new FakeLog(outputLines(10));
    let isLost = false;
    const opened = await open(log, null, {
      read: (params) => (isLost ? new Promise(() => {}) : log.read(params)),
    });
    isLost = true;
    log.write(outputLine(10));
    await opened.until(
      'the line from the poll that was open',
      () => lastText(opened) === 'line 10',
    );
    isLost = false;
    log.write(outputLine(11));
    opened.feed.wake();
    await opened.until('the next line', () => lastText(opened) === 'line 11');
  });

  test('it ends with the attempt, and continues when the attempt does', async () => {
    const log = new FakeLog(outputLines(10));
    const opened = await open(log);
    log.end();
    await opened.until('ended', () => opened.feed.hasEnded);
    log.hasEnded = false;
    log.write(outputLine(10));
    void opened.feed.follow();
    await opened.until('the line', () => lastText(opened) === 'line 10');
  });

  test('it restarts at the end when a crash has truncated the log', async () => {
    const log = new FakeLog(outputLines(1_000));
    const opened = await open(log);
    log.cut(10);
    await opened.until('the cut is seen', () => lastText(opened) === 'line 989');
    log.write(outputLine(990, 'another line'));
    await opened.until('what comes then', () => lastText(opened) === 'another line');
    assert.ok(opened.feed.hasOlder);
  });

  test('an empty log is open and waits for its first line', async () => {
    const log = new FakeLog();
    const opened = await open(log);
    assert.equal(opened.feed.window.eventCount, 0);
    log.write(outputLine(0));
    await opened.until('the first line', () => lastText(opened) === 'line 0');
  });
});
