import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  LoopDetector,
  loopPeriodMax,
  loopQuestion,
} from '../../../server/core/work/loop-detector.ts';

/** Number of calls after which a loop is reported; null = never. */
function foundAfter(detector: LoopDetector, inputs: readonly unknown[]): number | null {
  const at = inputs.findIndex((input) => detector.take('Bash', input) !== null);
  return at === -1 ? null : at + 1;
}

suite('loop detector', () => {
  test('identical repeated calls are a loop', () => {
    const inputs = Array.from({ length: 20 }, () => ({ command: 'ls' }));
    assert.equal(foundAfter(new LoopDetector(8), inputs), 8);
    assert.equal(foundAfter(new LoopDetector(0), inputs), null);
  });

  test('another input is another call', () => {
    const inputs = Array.from({ length: 50 }, (_, at) => ({ command: `sed -n ${at}p file` }));
    assert.equal(foundAfter(new LoopDetector(3), inputs), null);
    const detector = new LoopDetector(3);
    for (const name of ['Read', 'Write', 'Read', 'Bash', 'Grep', 'Read'])
      assert.equal(detector.take(name, {}), null);
  });

  test('a cycle of up to four calls is found as soon as it has repeated often enough, and not before', () => {
    const round = fc.uniqueArray(fc.string(), { minLength: 1, maxLength: loopPeriodMax });
    const repeats = fc.integer({ min: 2, max: 12 });
    const before = fc.array(
      fc.nat(1_000_000).map((n) => ({ before: n })),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(round, repeats, before, (inputs, times, others) => {
        const distinct = others.map((other, at) => ({ ...other, at }));
        const looping = Array.from({ length: times + 1 }, () => inputs).flat();
        const found = foundAfter(new LoopDetector(times), [...distinct, ...looping]);
        assert.equal(found, distinct.length + inputs.length * times);
      }),
    );
  });

  test('calls that never repeat are not a loop, however many they are', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(), { minLength: 1, maxLength: 300 }), (inputs) => {
        assert.equal(foundAfter(new LoopDetector(2), inputs), null);
      }),
    );
  });

  test('if a person allows it to continue, the next question comes after twice as many rounds', () => {
    const detector = new LoopDetector(4);
    const inputs = Array.from({ length: 30 }, () => 'x');
    assert.equal(foundAfter(detector, inputs), 4);
    detector.allow();
    assert.equal(foundAfter(detector, inputs), 8);
  });

  test('the question names the calls', () => {
    assert.match(
      loopQuestion({ names: ['Bash'], rounds: 8 }, 't1'),
      /^The agent of t1 has made the same call of Bash 8 times/,
    );
    assert.match(
      loopQuestion({ names: ['Edit', 'Bash'], rounds: 8 }, 't1'),
      /round of calls \(Edit, Bash\)/,
    );
  });
});
