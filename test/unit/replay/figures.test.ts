// The figures of a replayed window, from what happened in it.

import assert from 'node:assert/strict';
import { quantile, replayFigures, type Replay } from '../../replay/figures.ts';
import type { ReplayTask } from '../../replay/plan.ts';

const tasks: readonly ReplayTask[] = ['a', 'b', 'c', 'd'].map((id) => ({
  id,
  commit: id,
  title: id,
  files: [],
  blockedBy: [],
  firstMs: 5_000,
  restMs: 5_000,
}));

const at = (id: string, atMs: number) => ({ id, atMs });

const run: Replay = {
  mode: 'none',
  tasks,
  parallelGates: 4,
  starts: [at('a', 0), at('b', 0), at('c', 0), at('d', 0), at('b', 14_000)],
  ends: [at('a', 10_000), at('b', 10_000), at('c', 10_000), at('b', 24_000)],
  landings: [at('a', 12_000), at('c', 14_000), at('b', 26_000)],
  wallMs: 26_000,
  gates: { count: 6, meanMs: 2_000, red: 1 },
  conflicts: 1,
  unusedGateMs: 2_500,
  forecast: null,
  kills: 0,
  lost: [],
  equalPaths: 3,
  allPaths: 4,
  isTreeEqual: false,
  open: ['d failed'],
};

suite('the figures of a replay', () => {
  const figures = replayFigures(run, 2_000, 8);

  test('count landings, first tries and starts of agents for all tasks', () => {
    assert.equal(figures.landed, 0.75);
    assert.equal(figures.landedFirst, 0.5);
    assert.equal(figures.attempts, 1.25);
    assert.equal(figures.gatesPerTask, 1.5);
    assert.equal(figures.pathsEqual, 0.75);
  });

  test('compare the wall time with the serial one and with the critical path', () => {
    assert.equal(figures.toSerial, 26 / 48);
    assert.equal(figures.toCritical, 26 / 12);
  });

  test('measure each wait from the last end of the agent that landed', () => {
    assert.equal(figures.waitP50, 1);
    assert.equal(figures.waitP95, 2);
    const before = { ...run, ends: [...run.ends, at('a', 13_000)] };
    assert.equal(replayFigures(before, 2_000, 8).waitP50, 1, 'ends after the landing do not count');
  });

  test('take no quantile of nothing', () => {
    assert.ok(Number.isNaN(quantile([], 0.5)));
    assert.equal(quantile([3, 1, 2], 0.5), 2);
    assert.equal(quantile([1, 2], 0), 1);
  });
});
