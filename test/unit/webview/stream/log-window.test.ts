// The loaded part of a log: pages without gaps, bounded in size, with stable keys.

import assert from 'node:assert/strict';
import {
  LogWindow,
  windowBytesMax,
  windowEventsMax,
  type LogPage,
} from '../../../../webview/shared/log/log-window.ts';

/** A text of ten bytes for each event. */
function page(first: number, count: number, type = 'text'): LogPage {
  return {
    start: first * 10,
    end: (first + count) * 10,
    events: Array.from({ length: count }, (_, index) => ({
      type,
      stream: 'stdout',
      text: String(first + index),
      at: 1,
    })),
  };
}

const texts = (window: LogWindow): string[] =>
  window.transcript.entries.map(({ body }) => ('text' in body ? (body.text ?? '') : ''));
const keys = (window: LogWindow): number[] => window.transcript.entries.map(({ key }) => key);

suite('log window', () => {
  test('it grows at both ends, and entries keep their keys', () => {
    const window = new LogWindow();
    window.reset(page(100, 3));
    const [first] = keys(window);
    assert.ok(window.append(page(103, 2)));
    assert.ok(window.prepend(page(98, 2)));
    assert.deepEqual(texts(window), ['98', '99', '100', '101', '102', '103', '104']);
    assert.equal(keys(window)[2], first);
    assert.deepEqual([window.start, window.end], [980, 1050]);
  });

  test('it accepts no page that leaves a gap', () => {
    const window = new LogWindow();
    window.reset(page(100, 3));
    assert.equal(window.append(page(104, 1)), false);
    assert.equal(window.prepend(page(98, 1)), false);
    assert.deepEqual(texts(window), ['100', '101', '102']);
  });

  test('it drops whole pages at one side and reads them again under the same keys', () => {
    const window = new LogWindow();
    window.reset(page(0, 500));
    for (let first = 500; first < windowEventsMax + 1_000; first += 500) {
      window.append(page(first, 500));
    }
    const keyOf5000 = keys(window)[5_000];
    assert.ok(window.trim('front'));
    assert.ok(window.eventCount <= windowEventsMax);
    assert.equal(window.end, (windowEventsMax + 1_000) * 10);
    const start = window.start / 10;
    assert.ok(start > 0);
    while (window.start > 0) assert.ok(window.prepend(page(window.start / 10 - 500, 500)));
    assert.equal(keys(window)[5_000], keyOf5000);
    assert.equal(texts(window)[5_000], '5000');
    assert.ok(window.trim('back'));
    assert.equal(window.start, 0);
    assert.ok(window.end < (windowEventsMax + 1_000) * 10);
  });

  test('it also drops pages when a few events are large', () => {
    const window = new LogWindow();
    const large = (start: number): LogPage => ({
      start,
      end: start + windowBytesMax / 2,
      events: [{ type: 'text', text: 'large', at: 1 }],
    });
    window.reset(large(0));
    // Small pages of live output are joined: a window keeps at least one page.
    for (let index = 0; index < 3; index += 1) {
      window.append({ ...page(0, 500), start: window.end, end: window.end + windowBytesMax / 4 });
    }
    assert.ok(window.trim('front'));
    assert.ok(window.end - window.start <= windowBytesMax);
  });

  test('a block of output does not change its key when older lines come before it', () => {
    const window = new LogWindow();
    window.reset(page(100, 100, 'output'));
    const before = keys(window);
    window.prepend(page(50, 50, 'output'));
    assert.deepEqual(keys(window).slice(-before.length), before);
  });

  test('a result finds its call when the page with the call is read', () => {
    const window = new LogWindow();
    const result = { type: 'tool_result', id: 't', isError: false, text: 'done', at: 2 };
    const call = { type: 'tool_call', id: 't', name: 'Bash', title: 'Bash', input: {}, at: 1 };
    window.reset({ start: 10, end: 20, events: [result] });
    assert.equal(window.transcript.entries[0]?.body.kind, 'result');
    window.prepend({ start: 0, end: 10, events: [call] });
    assert.deepEqual(
      window.transcript.entries.map(({ body }) => body.kind),
      ['tool'],
    );
  });

  test('positions in the log and keys lead to each other', () => {
    const window = new LogWindow();
    window.reset(page(100, 3));
    window.prepend(page(90, 10));
    for (const key of keys(window)) {
      const place = window.placeOf(key);
      assert.ok(place !== null);
      assert.equal(window.keyAt(place), key);
    }
    assert.equal(window.placeOf(10_000), null);
    assert.equal(window.keyAt({ offset: 7, index: 0 }), null);
  });
});
