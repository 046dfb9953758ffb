// The table of vulnerabilities in SECURITY.md: every number has a row, and every test that a row names exists.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { missingTests, type NamedTests, testsNamedIn } from './named-tests.ts';

/** By number: the files of tests in a row, each with the titles that stand behind it. */
function rows(): ReadonlyMap<string, readonly NamedTests[]> {
  const text = readFileSync('SECURITY.md', 'utf8');
  const lines = text.slice(text.indexOf('## Vulnerabilities')).split('\n');
  return new Map(
    lines.flatMap((line) => {
      const cells = line.split(' | ');
      const number = /^\| (S\d+|[BCD])$/.exec(cells[0] ?? '')?.[1];
      return number === undefined ? [] : [[number, testsNamedIn(cells[3] ?? '')] as const];
    }),
  );
}

suite('the table of weaknesses', () => {
  test('every one that was found has a row', () => {
    const numbers = Array.from({ length: 22 }, (_, index) => `S${index + 1}`);
    assert.deepEqual([...rows().keys()], [...numbers, 'B', 'C', 'D']);
  });

  test('every test that it names is there', () => {
    const missing: string[] = [];
    for (const [number, named] of rows()) {
      if (named.length === 0) missing.push(`${number}: no test`);
      missing.push(...missingTests(named).map((name) => `${number}: ${name}`));
    }
    assert.deepEqual(missing, []);
  });
});
