// The table of findings in a fleet in docs/testing.md: every letter has a row, and every test that a row names exists.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { missingTests, testsNamedIn } from './named-tests.ts';

/** By letter: its cell of tests. */
function rows(): ReadonlyMap<string, string> {
  const text = readFileSync('docs/testing.md', 'utf8');
  const table = text.slice(text.indexOf('## Findings in a fleet')).split('\n');
  return new Map(
    table.flatMap((line) => {
      const cells = line.split(' | ');
      const letter = /^\| ([A-J])$/.exec(cells[0] ?? '')?.[1];
      return letter === undefined ? [] : [[letter, cells[2] ?? ''] as const];
    }),
  );
}

suite('the table of findings in a fleet', () => {
  test('every one has a row, and the tests that it names are there', () => {
    assert.equal([...rows().keys()].join(''), 'ABCDEFGHIJ');
    for (const [letter, cell] of rows()) {
      const named = testsNamedIn(cell);
      assert.ok(named.length > 0 && named.every(({ titles }) => titles.length > 0), letter);
      assert.deepEqual(missingTests(named), [], letter);
    }
  });
});
