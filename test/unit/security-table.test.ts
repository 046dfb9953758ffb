// The table of vulnerabilities in SECURITY.md: every number has a row, and every test that a row names exists.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';

interface Named {
  readonly file: string;
  readonly titles: readonly string[];
}

/** By number: the files of tests in a row, each with the titles that stand behind it. */
function rows(): ReadonlyMap<string, readonly Named[]> {
  const text = readFileSync('SECURITY.md', 'utf8');
  const lines = text.slice(text.indexOf('## Vulnerabilities')).split('\n');
  return new Map(
    lines.flatMap((line) => {
      const cells = line.split(' | ');
      const number = /^\| (S\d+|[BCD])$/.exec(cells[0] ?? '')?.[1];
      return number === undefined ? [] : [[number, namedIn(cells[3] ?? '')] as const];
    }),
  );
}

function namedIn(cell: string): readonly Named[] {
  const parts = cell.split(/(?=`test\/)/).filter((part) => part.startsWith('`test/'));
  return parts.map((part) => ({
    file: /^`([^`]+)`/.exec(part)?.[1] ?? '',
    titles: [...part.matchAll(/"([^"]+)"/g)].map(([, title = '']) => title),
  }));
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
      for (const { file, titles } of named) {
        const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
        if (text === '') missing.push(`${number}: ${file}`);
        for (const title of titles) if (!text.includes(title)) missing.push(`${number}: ${title}`);
      }
    }
    assert.deepEqual(missing, []);
  });
});
