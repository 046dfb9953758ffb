// How often the work of a running agent is kept.

import assert from 'node:assert/strict';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';
import { withPeriodicSnapshots } from '../../../server/workflows/attempt/while-kept.ts';
import { SimulatedClock } from '../../doubles/simulated-clock.ts';

/** Half a minute is the most that a machine which never comes back may cost. */
const lostMaxMs = 30_000;
/** A snapshot and its push take up to so long on a busy machine. */
const pushMaxMs = 10_000;

suite('the work of a running agent', () => {
  /** When snapshots began, on a clock that starts at 0. */
  async function snapshotsOf(machineId: string): Promise<readonly number[]> {
    const clock = new SimulatedClock(0);
    const begun: number[] = [];
    const ended = Promise.withResolvers<void>();
    const snapshot = async (): Promise<unknown> => {
      begun.push(clock.now());
      if (begun.length === 3) ended.resolve();
      return { ok: true, value: null };
    };
    const files = { exists: () => Promise.resolve(true) };
    const parts = { clock, files, git: { snapshot }, machineId, report: assert.fail };
    const engine = parts as unknown as Engine;
    const attempt = { taskId: 't', attempt: 1 };
    const kept = withPeriodicSnapshots(
      engine,
      attempt,
      { path: '/slot', base: null },
      () => ended.promise,
    );
    let isOver = false;
    void kept.then(() => (isOver = true));
    while (!isOver) {
      clock.step();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return begun;
  }

  test('it is saved often enough for a forecast within half a minute', async () => {
    assert.deepEqual(await snapshotsOf(''), [20_000, 40_000, 60_000]);
  });

  test('it is saved more often in a fleet, so that a push can complete within half a minute', async () => {
    const [first = Infinity, second = Infinity] = await snapshotsOf('north');
    assert.ok(first + pushMaxMs <= lostMaxMs, `${first}`);
    assert.ok(second - first + pushMaxMs <= lostMaxMs, `${second - first}`);
  });
});
