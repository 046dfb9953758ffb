// The table of findings in a fleet in docs/testing.md: every letter has a row, and every test that a row names exists.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

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
    const missing: string[] = [];
    for (const [letter, cell] of rows()) {
      for (const part of cell.split(/(?=`test\/)/)) {
        const file = /^`([^`]+)`/.exec(part)?.[1] ?? '';
        const titles = [...part.matchAll(/"([^"]+)"/g)].map(([, title = '']) => title);
        const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
        const lacks = titles.filter((title) => !text.includes(title));
        if (titles.length === 0 || lacks.length > 0)
          missing.push(`${letter}: ${file} ${lacks.join()}`);
      }
    }
    assert.deepEqual(missing, []);
  });
});
