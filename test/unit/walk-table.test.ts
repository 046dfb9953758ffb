// The table of the first walk in VS Code in docs/testing-vscode.md: every bug has a row, and every test that a row names exists.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { missingTests, testsNamedIn } from './named-tests.ts';

/** By number: its cell of tests. */
function rows(): ReadonlyMap<string, string> {
  const text = readFileSync('docs/testing-vscode.md', 'utf8');
  const table = text.slice(text.indexOf('## Bugs of the first walk')).split('\n');
  return new Map(
    table.flatMap((line) => {
      const cells = line.split(' | ');
      const number = /^\| (B\d+)$/.exec(cells[0] ?? '')?.[1];
      return number === undefined ? [] : [[number, cells[2] ?? ''] as const];
    }),
  );
}

suite('the table of the first walk in VS Code', () => {
  test('every bug has a row, and the tests that it names are there', () => {
    const numbers = Array.from({ length: 26 }, (_, index) => `B${index + 1}`);
    assert.deepEqual([...rows().keys()], numbers);
    for (const [number, cell] of rows()) {
      const named = testsNamedIn(cell);
      assert.ok(named.length > 0 && named.every(({ titles }) => titles.length > 0), number);
      assert.deepEqual(missingTests(named), [], number);
    }
  });
});
