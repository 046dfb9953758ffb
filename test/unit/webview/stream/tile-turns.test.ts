// The grid's turns: which tiles ask when, and together with which others, on a clock that the test
// moves.

import assert from 'node:assert/strict';
import { assignTurn, Turns } from '../../../../webview/grid/tile-turns.ts';

class Clock {
  nowMs = 0;
  readonly #calls = new Map<() => void, number>();

  readonly after = (ms: number, then: () => void): (() => void) => {
    this.#calls.set(then, this.nowMs + ms);
    return () => this.#calls.delete(then);
  };

  advance(ms: number): void {
    this.nowMs += ms;
    for (const [then, atMs] of this.#calls) {
      if (atMs > this.nowMs) continue;
      this.#calls.delete(then);
      then();
    }
  }
}

suite('grid: turns', () => {
  const stays = new AbortController().signal;

  test('a few tiles get each turn, every tile gets one, and more tiles wait longer', () => {
    for (const tiles of [1, 2, 3, 16, 64]) {
      const groups = Math.ceil(tiles / 2);
      const first = Array.from({ length: tiles }, (_, tile) => assignTurn(tile, tiles, 1_000));
      assert.ok(first.every((turn) => turn > 8 && turn <= 8 + groups));
      for (const turn of new Set(first)) {
        assert.ok(first.filter((each) => each === turn).length <= 2);
      }
      const again = first.map((turn, tile) => assignTurn(tile, tiles, turn * 125));
      assert.deepEqual(
        again,
        first.map((turn) => turn + groups),
      );
    }
  });

  test('tiles of one turn continue in one turn, and the others in theirs', async () => {
    const clock = new Clock();
    const turns = new Turns(() => clock.nowMs, clock.after);
    turns.tiles = 4;
    const went: number[] = [];
    const waits = [0, 1, 2, 3].map(async (tile) => {
      await turns.next(tile, stays);
      went.push(tile);
    });
    clock.advance(125);
    await Promise.all([waits[1], waits[3]]);
    assert.deepEqual(went, [1, 3]);
    clock.advance(125);
    await Promise.all(waits);
    assert.deepEqual(went, [1, 3, 0, 2]);
  });

  test('a removed tile waits for nothing, and delays nothing', async () => {
    const clock = new Clock();
    const turns = new Turns(() => clock.nowMs, clock.after);
    const leaves = new AbortController();
    const left = turns.next(0, leaves.signal);
    const other = turns.next(1, stays);
    leaves.abort();
    await left;
    await turns.next(0, leaves.signal);
    clock.advance(125);
    await other;
  });
});
