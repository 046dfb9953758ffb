import assert from 'node:assert/strict';
import fc from 'fast-check';
import { retryDelayMs } from '../../../server/core/work/retry.ts';
import { etaMs, medianMs } from '../../../server/core/plan/schedule.ts';
import { compareForStart } from '../../doubles/start-order.ts';
import type { GraphNode } from '../../../server/core/plan/graph-edges.ts';

suite('schedule', () => {
  const candidate = fc.record({
    id: fc.string({ minLength: 1, maxLength: 3 }),
    priority: fc.integer({ min: -2, max: 2 }),
    chain: fc.integer({ min: 1, max: 3 }),
    createdAt: fc.nat(2),
    position: fc.nat(2),
  });

  test('the order is priority, then chain, then position, then age', () => {
    const make = (text: string) => {
      const [id = '', priority, chain, createdAt, position] = text.split(' ');
      return {
        id,
        priority: Number(priority),
        chain: Number(chain),
        createdAt: Number(createdAt),
        position: Number(position),
      };
    };
    const wanted = [
      'a 9 1 9 9',
      'b 5 4 9 9',
      'c 5 1 9 1',
      'd 5 1 1 2',
      'e 5 1 2 2',
      'f 5 1 2 2',
      'g -1 9 0 0',
    ];
    const sorted = wanted.toReversed().map(make).toSorted(compareForStart);
    assert.deepEqual(
      sorted.map(({ id }) => id),
      ['a', 'b', 'c', 'd', 'e', 'f', 'g'],
    );
  });

  test('it is a total order', () => {
    fc.assert(
      fc.property(candidate, candidate, candidate, (a, b, c) => {
        assert.equal(Math.sign(compareForStart(a, b)), -Math.sign(compareForStart(b, a)) + 0);
        if (compareForStart(a, b) <= 0 && compareForStart(b, c) <= 0) {
          assert.ok(compareForStart(a, c) <= 0);
        }
        if (compareForStart(a, b) === 0) assert.equal(a.id, b.id);
      }),
    );
  });

  test('the median is computed', () => {
    assert.equal(medianMs([]), null);
    assert.equal(medianMs([3]), 3);
    assert.equal(medianMs([9, 1, 5]), 5);
    assert.equal(medianMs([4, 1, 9, 2]), 3);
  });

  test('the estimate is bounded by the chain and by the workers', () => {
    const chain = (...ids: string[]): GraphNode[] =>
      ids.map((id, index) => {
        const before = ids[index - 1];
        const blockedBy = before === undefined ? [] : [before];
        return { id, blockedBy, parentId: null, sequence: 0 };
      });
    const three = chain('a', 'b', 'c');
    const apart = ['d', 'e', 'f'].flatMap((id) => chain(id));
    const sub: GraphNode = { id: 'a.1', blockedBy: [], parentId: 'a', sequence: 1 };
    const cases: readonly [GraphNode[], number | null, number, number | null][] = [
      [[], null, 1, 0],
      [three, null, 1, null],
      [three, 10, 1, 30],
      [three, 10, 8, 30],
      [apart, 10, 1, 30],
      [apart, 10, 2, 15],
      [apart, 10, 8, 10],
      [[...three, ...apart], 10, 2, 30],
      [[...three, sub], 10, 8, 30],
    ];
    for (const [remaining, median, workers, wanted] of cases) {
      assert.equal(etaMs({ remaining, medianMs: median, workers }), wanted);
    }
    const elapsedMs = new Map([['a', 4]]);
    assert.equal(etaMs({ remaining: three, medianMs: 10, workers: 1, elapsedMs }), 26);
  });
});

suite('retry', () => {
  test('the delay doubles, with a random fifth, up to five minutes', () => {
    const cases: readonly [number, number, number][] = [
      [1, 0.5, 1_000],
      [1, 0, 800],
      [1, 1, 1_200],
      [2, 0.5, 2_000],
      [3, 0.5, 4_000],
      [9, 0.5, 256_000],
      [9, 1, 300_000],
      [10, 0.5, 300_000],
      [10_000, 0, 300_000],
      [0, 0.5, 1_000],
    ];
    for (const [failed, chance, wanted] of cases)
      assert.equal(retryDelayMs(failed, chance), wanted);
  });

  test('the delay stays within its bounds, and more failures shorten it at most by chance', () => {
    const chance = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), chance, chance, (failed, one, other) => {
        const delay = retryDelayMs(failed, one);
        assert.ok(delay >= 800 && delay <= 300_000 && Number.isInteger(delay));
        assert.ok(retryDelayMs(failed + 1, other) >= Math.min(delay, 300_000));
      }),
    );
  });
});
