// Sleep does not count as time awake, whether or not the system's monotonic clock continues during
// sleep.

import assert from 'node:assert/strict';
import { AwakeClock } from '../../../server/platform/awake-clock.ts';

const hourMs = 3_600_000;

suite('the clock of a machine that sleeps', () => {
  let wallMs = 0;
  let monotonicMs = 0;
  let slept: number[] = [];
  let clock: AwakeClock;
  setup(() => {
    wallMs = 1_800_000_000_000;
    monotonicMs = 5_000;
    slept = [];
    const sources = { wallMs: () => wallMs, monotonicMs: () => monotonicMs };
    clock = new AwakeClock(sources, (ms) => slept.push(ms));
  });
  teardown(() => clock.end());

  function pass(wall: number, monotonic: number): number {
    const beforeMs = clock.nowMs();
    wallMs += wall;
    monotonicMs += monotonic;
    return clock.nowMs() - beforeMs;
  }

  test('it counts time that passes', () => {
    assert.equal(pass(1_000, 1_000), 1_000);
    assert.equal(pass(59_000, 59_000), 59_000);
    assert.deepEqual(slept, []);
    assert.equal(clock.wokeAtMs(), 0);
  });

  test('it does not count a sleep in which the monotonic clock stops', () => {
    assert.equal(pass(7 * hourMs + 1_000, 1_000), 1_000);
    assert.deepEqual(slept, [7 * hourMs]);
    assert.equal(clock.wokeAtMs(), 6_000);
  });

  test('it does not count a sleep in which the monotonic clock continues', () => {
    assert.equal(pass(7 * hourMs, 7 * hourMs), 1_000);
    assert.deepEqual(slept, [7 * hourMs - 1_000]);
  });

  test('a clock that is set back or forward a little is not a sleep', () => {
    assert.equal(pass(-hourMs, 1_000), 1_000);
    assert.equal(pass(30_000, 1_000), 1_000);
    assert.deepEqual(slept, []);
  });

  test('it reports each sleep once', () => {
    pass(hourMs, 10);
    clock.nowMs();
    pass(2 * hourMs, 10);
    assert.deepEqual(slept, [hourMs - 10, 2 * hourMs - 10]);
  });
});
