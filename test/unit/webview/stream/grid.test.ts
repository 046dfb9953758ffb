// The grid's pure parts: live agents, where arrow keys move to, a tile's text, and its feed.

import assert from 'node:assert/strict';
import { epicView, questionView, snapshotOf, taskView } from '../../../doubles/views.ts';
import { FakeLog, outputLine, outputLines } from '../../../webview/stream/fake-log.ts';
import {
  liveAgents,
  nextLate,
  tileBeside,
  tilesMax,
} from '../../../../webview/grid/live-agents.ts';
import { TileFeed, type TileFeedParts } from '../../../../webview/grid/tile-feed.ts';
import { checkedLine } from '../../../../server/protocol/agent-events.ts';
import { TileLines, tileLines, tileLinesMax } from '../../../../webview/grid/tile-lines.ts';
import { sleep } from '../../../../webview/shared/log/read-log.ts';

suite('grid: live agents', () => {
  test('running agents are shown in the order of the tree, with their current part', () => {
    const tasks = [
      taskView({ id: 'done', status: 'completed' }),
      taskView({ id: 'young', status: 'in_progress', phase: 'agent', started_at: 200 }),
      taskView({ id: 'old', status: 'in_progress', phase: 'gate', started_at: 100 }),
      taskView({ id: 'old-1', parent_id: 'old', status: 'completed' }),
      taskView({ id: 'old-2', parent_id: 'old', status: 'in_progress' }),
      taskView({ id: 'begins', status: 'claimed' }),
      taskView({ id: 'lands', status: 'needs_review', phase: 'land', started_at: 300 }),
    ];
    assert.deepEqual(
      liveAgents(snapshotOf(tasks)).map(({ logId }) => logId),
      ['young', 'old-2', 'begins', 'lands'],
    );
  });

  test('agents with questions come first, and the tenth task follows the ninth', () => {
    const tasks = Array.from({ length: 12 }, (_, at) =>
      taskView({
        id: `t${at + 1}`,
        status: 'in_progress',
        epic_id: at < 10 ? 'second' : 'first',
        position: at,
      }),
    );
    const board = snapshotOf(tasks, {
      epics: [epicView({ id: 'first' }), epicView({ id: 'second' })],
      questions: [questionView({ id: 'q', task_id: 't9' })],
    });
    assert.deepEqual(
      liveAgents(board).map(({ task }) => task.id),
      ['t9', 't11', 't12', 't1', 't2', 't3', 't4', 't5', 't6', 't7', 't8', 't10'],
    );
  });

  test('no more tiles than fit on the page are shown', () => {
    const tasks = Array.from({ length: 200 }, (_, index) =>
      taskView({ id: `t${index}`, status: 'in_progress' }),
    );
    assert.equal(liveAgents(snapshotOf(tasks)).length, tilesMax);
  });

  test('only some of many outdated tiles are drawn at a time, and each gets its turn', () => {
    const tiles = Array.from({ length: 64 }, (_, at) => ({ at, drawnMs: 0 }));
    for (let tick = 1; tick <= 8; tick += 1) {
      const next = nextLate(tiles, tiles.length);
      assert.equal(next.length, 9);
      for (const tile of next) tile.drawnMs = tick * 125;
    }
    assert.ok(tiles.every(({ drawnMs }) => drawnMs > 0));
    assert.deepEqual(nextLate([], 64), []);
  });

  test('arrows move between tiles and stop at the edges', () => {
    const cases: readonly (readonly [number, string, number])[] = [
      [0, 'ArrowRight', 1],
      [4, 'ArrowRight', 4],
      [0, 'ArrowLeft', 0],
      [1, 'ArrowDown', 3],
      [3, 'ArrowDown', 3],
      [3, 'ArrowUp', 1],
      [1, 'ArrowUp', 1],
      [2, 'Home', 0],
      [2, 'End', 4],
      [2, 'x', 2],
    ];
    for (const [index, key, expected] of cases) {
      assert.equal(tileBeside(index, key, 2, 5), expected, `${index} ${key}`);
    }
  });
});

suite('grid: lines of a tile', () => {
  test('an event becomes one or a few short, harmless lines', () => {
    const cases: readonly (readonly [
      Record<string, unknown> & { type: string },
      readonly string[],
    ])[] = [
      [{ type: 'text', text: 'a\n\nb' }, ['a', 'b']],
      [{ type: 'tool_call', id: 't', name: 'Bash', title: 'Bash ls' }, ['→ Bash ls']],
      [{ type: 'tool_result', id: 't', isError: false, text: 'fine' }, []],
      [{ type: 'tool_result', id: 't', isError: true, text: 'no' }, ['✗ no']],
      [{ type: 'output', text: '\u001b[31m1%\r50%\r\u001b[32m100%\u202e' }, ['100%U+202E']],
      [{ type: 'output', text: 'x'.repeat(5_000) }, ['x'.repeat(300)]],
      [{ type: 'usage', usage: {} }, []],
      [{ type: 'exit', code: 1 }, ['Ended with exit code 1']],
      [{ type: 'exit', code: 0, ended: 2 }, ['Ended; 2 leftover processes killed']],
    ];
    for (const [event, expected] of cases)
      assert.deepEqual(tileLines(checkedLine({ at: 1, ...event })), expected);
  });

  test('only the newest lines stay', () => {
    const lines = new TileLines();
    lines.add(outputLines(1_000));
    assert.equal(lines.lines.length, tileLinesMax);
    assert.equal(lines.lines.at(-1), 'line 999');
  });
});

suite('grid: feed of a tile', () => {
  type Read = TileFeedParts['read'];

  function feedOf(
    log: FakeLog,
    read: Read = (params) => log.read(params),
  ): {
    feed: TileFeed;
    readonly until: (look: () => boolean) => Promise<void>;
  } {
    const listeners = new Set<() => void>();
    const feed = new TileFeed({
      id: 't',
      read,
      onChange: () => {
        for (const listener of listeners) listener();
      },
      sleep: (ms, signal) => sleep(ms > 20_000 ? ms : 1, signal),
      turn: (signal) => sleep(1, signal),
    });
    return {
      feed,
      until: (look) =>
        new Promise((done) => {
          const check = (): void => {
            if (look()) done();
          };
          listeners.add(check);
          check();
        }),
    };
  }

  test('it starts at the end and follows', async () => {
    const log = new FakeLog(outputLines(10_000));
    const { feed, until } = feedOf(log);
    void feed.run();
    await until(() => feed.lines.at(-1) === 'line 9999');
    assert.ok(log.asked.every(({ limit }) => (limit ?? 0) <= 500));
    log.write(outputLine(10_000));
    await until(() => feed.lines.at(-1) === 'line 10000');
    assert.equal(feed.skipped, 0);
    feed.stop();
  });

  test('if it falls behind, it continues at the end and reports about how much it skipped', async () => {
    const log = new FakeLog(outputLines(10));
    const { feed, until } = feedOf(log);
    void feed.run();
    await until(() => feed.lines.at(-1) === 'line 9');
    log.write(...outputLines(20_000, 10));
    await until(() => feed.lines.at(-1) === 'line 20009');
    assert.ok(feed.skipped > 18_000 && feed.skipped < 21_000, String(feed.skipped));
    assert.ok(log.asked.length < 6);
    feed.stop();
  });

  test('it keeps up with a backend that only returns the next events', async () => {
    const log = new FakeLog(outputLines(10));
    const { feed, until } = feedOf(log, ({ newest: _newest, ...params }) => log.read(params));
    void feed.run();
    await until(() => feed.lines.at(-1) === 'line 9');
    log.write(...outputLines(20_000, 10));
    await until(() => feed.lines.at(-1) === 'line 20009');
    assert.ok(feed.lines.length >= feed.fits);
    assert.ok(feed.skipped > 18_000 && feed.skipped < 23_000, String(feed.skipped));
    log.write(outputLine(20_010));
    await until(() => feed.lines.at(-1) === 'line 20010');
    assert.ok(log.asked.length < 8, String(log.asked.length));
    feed.stop();
  });

  test('it continues when the backend is back, and ends with the attempt', async () => {
    const log = new FakeLog(outputLines(10));
    log.failure = new Error('gone');
    const { feed, until } = feedOf(log);
    const run = feed.run();
    log.failure = null;
    await until(() => feed.lines.at(-1) === 'line 9');
    log.end();
    await run;
    assert.equal(feed.hasEnded, true);
  });
});
