// Subjects of commits: one line, short, and nothing in them reads as something else.

import assert from 'node:assert/strict';
import { commitSubject, subjectMax } from '../../../server/core/visible-text.ts';

suite("a commit's subject", () => {
  const cases: readonly (readonly [string, string])[] = [
    ['task-1: Greet people', 'task-1: Greet people'],
    ['task-1: two\r\nlines\tand  blanks ', 'task-1: two lines and blanks'],
    ['task-1: \u202egnp.exe', 'task-1: U+202Egnp.exe'],
    ['task-1: \u0007bell\u001b[31m', 'task-1: bell [31m'],
    ['a\u2028b', 'a b'],
    ['日本語 🐑', '日本語 🐑'],
    ['x'.repeat(subjectMax), 'x'.repeat(subjectMax)],
    ['x'.repeat(subjectMax + 1), `${'x'.repeat(subjectMax - 1)}…`],
    [`task-1: ${'word '.repeat(200)}`, `task-1: ${'word '.repeat(12)}wor…`],
    ['🐑'.repeat(1_000), `${'🐑'.repeat(subjectMax - 1)}…`],
  ];
  for (const [given, expected] of cases) {
    test(JSON.stringify(given.slice(0, 40)), () => {
      assert.equal(commitSubject(given), expected);
    });
  }
});
