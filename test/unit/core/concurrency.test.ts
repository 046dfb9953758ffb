import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  agentsAllowed,
  isOverload,
  nextPaceMs,
  type Pace,
  paceCooldownMs,
  paceStepMs,
  slowerPace,
} from '../../../server/core/work/concurrency.ts';
import { hostHold } from '../../../server/core/work/host-limits.ts';

suite('the pace of an account', () => {
  test('it is halved at each overload, and grows by one after each quiet period', () => {
    const first = slowerPace(null, 0, { workers: 8, busy: 8 });
    assert.deepEqual(first, { agents: 4, atMs: 0 });
    assert.equal(slowerPace(first, paceCooldownMs - 1, { workers: 8, busy: 8 }), null);
    const second = slowerPace(first, paceCooldownMs, { workers: 8, busy: 4 });
    assert.deepEqual(second, { agents: 2, atMs: paceCooldownMs });
    const at = (steps: number): number =>
      agentsAllowed(second, paceCooldownMs + steps * paceStepMs, 8);
    assert.deepEqual([at(0), at(1), at(2), at(6), at(60)], [2, 3, 4, 8, 8]);
    assert.equal(nextPaceMs(second, paceCooldownMs + 1, 8), paceCooldownMs + paceStepMs);
    assert.equal(nextPaceMs(second, paceCooldownMs + 6 * paceStepMs, 8), null);
  });

  test('it never falls below one or exceeds the workers, and grows only with time', () => {
    const signs = fc.array(fc.tuple(fc.nat(60_000), fc.nat(64)), { maxLength: 50 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), signs, (workers, list) => {
        let pace: Pace | null = null;
        let nowMs = 0;
        for (const [laterMs, busy] of list) {
          const earlier = agentsAllowed(pace, nowMs, workers);
          nowMs += laterMs;
          const before = agentsAllowed(pace, nowMs, workers);
          assert.ok(before >= earlier);
          pace = slowerPace(pace, nowMs, { workers, busy }) ?? pace;
          const after = agentsAllowed(pace, nowMs, workers);
          assert.ok(after >= 1 && after <= workers && after <= before);
        }
        assert.equal(agentsAllowed(pace, nowMs + 64 * paceStepMs, workers), workers);
      }),
    );
  });

  const signs: readonly [number | null, string, boolean][] = [
    [429, 'x', true],
    [529, 'x', true],
    [503, 'x', true],
    [500, 'overloaded', false],
    [401, 'x', false],
    [null, 'overloaded_error', true],
    [null, 'the model says overloaded', false],
  ];
  for (const [status, error, wanted] of signs) {
    test(`${status} ${error}`, () => assert.equal(isOverload({ status, error }), wanted));
  }
});

suite("the machine's free resources", () => {
  const limits = {
    minFreeMemoryBytes: 256,
    minFreeDiskBytes: 1_024,
    maxLoad: 4,
    worktreesMaxBytes: null,
  };
  const facts = { freeMemoryBytes: 1_000, freeDiskBytes: 2_000, load: 2, cores: 2 };
  const cases: readonly [string, Partial<typeof facts>, number, RegExp | null][] = [
    ['enough', {}, 3, null],
    ['full disk', { freeDiskBytes: 1_000 }, 0, /only 1000 B are free on the disk/],
    ['no memory, but nothing works yet', { freeMemoryBytes: 1 }, 0, null],
    [
      'no memory',
      { freeMemoryBytes: 1 },
      1,
      /only 1 B of memory are free .*min_free_memory = 256 B/,
    ],
    ['load', { load: 9 }, 1, /load is 4\.5 per core .*max_load = 4/],
    ['load at its limit', { load: 8 }, 1, null],
  ];
  for (const [name, change, busy, wanted] of cases) {
    test(name, () => {
      const hold = hostHold({ ...facts, ...change }, limits, busy);
      if (wanted === null) assert.equal(hold, null);
      else assert.match(hold ?? '', wanted);
    });
  }

  test('a disk of unknown size prevents nothing', () =>
    assert.equal(hostHold({ ...facts, freeDiskBytes: null }, limits, 1), null));
});
