// The small wrong changes of the mutation run: they are made in code, not in comments and types,
// and drawn by a seed.

import assert from 'node:assert/strict';
import { SeededChance } from '../../doubles/seeded-chance.ts';
import { failedTest } from '../../mutants/suites.ts';
import { applied, drawMutations, lineOf, mutationsOf } from '../../mutants/mutations.ts';

const text = [
  '// if (a === b) return true;',
  "import { a } from 'b - c';",
  'export type Both = true | false;',
  'const isIn = at >= 0 && at < 10;',
  'if (isIn) return;',
].join('\n');

suite('mutations', () => {
  test('each place in the code is listed once, with its replacement', () => {
    const changed = mutationsOf(text).map((mutation) => {
      const after = applied(text, mutation).split('\n');
      return after[lineOf(text, mutation) - 1] ?? '';
    });
    assert.deepEqual(changed, [
      'const isIn = at >= 0 || at < 10;',
      'const isIn = at >= 0 && at <= 10;',
      'const isIn = at > 0 && at < 10;',
      'if (!isIn) return;',
      'if (isIn) ;',
    ]);
  });

  test('the same seed draws the same mutations, and none twice', () => {
    const draw = (seed: number) =>
      drawMutations([{ text }], 3, new SeededChance(seed)).map(({ mutation }) => mutation);
    assert.deepEqual(draw(1), draw(1));
    assert.equal(new Set(draw(1).map(({ at }) => at)).size, 3);
    assert.equal(drawMutations([{ text }], 80, new SeededChance(1)).length, 5);
  });

  test('the test that detected a mutation is named', () => {
    const output =
      '  ✔ a\n\n  1 passing (2s)\n  1 failing\n\n  1) a suite\n       within: a test:\n     Error: x\n';
    assert.equal(failedTest(output), 'a suite: within: a test');
    assert.equal(failedTest('killed'), '');
  });
});
