// The tables of the worker contract's rows and of hostile workers in docs/worker-runtime.md are whole, and each row has a test of its name where it says.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '..');

test('every row of the worker contract has a test by its name', () => {
  const text = readFileSync(join(root, 'docs/worker-runtime.md'), 'utf8');
  const rows = [...text.matchAll(/^\| ([CR]\d\d) \| .+ \| `(.+)` \|$/gm)];
  const numbered = (letter: string, count: number): string[] =>
    Array.from({ length: count }, (_, n) => `${letter}${String(n + 1).padStart(2, '0')}`);
  assert.deepEqual(
    rows.map(([, name]) => name),
    [...numbered('C', 45), ...numbered('R', 24)],
  );
  const hostile = [...text.matchAll(/^\| (H\d\d|§5\.3) \| .+ \| `(.+)` \|$/gm)];
  assert.deepEqual(
    hostile.map(([, name]) => name),
    [...numbered('H', 11), '§5.3'],
  );
  const missing = [...rows, ...hostile].filter(([, name, path = '']) => {
    const tests = readFileSync(join(root, path), 'utf8');
    return !new RegExp(`test\\(\\s*['"\`][^'"\`]*(?<!\\w)${name}\\b`).test(tests);
  });
  assert.deepEqual(
    missing.map(([, name]) => name),
    [],
  );
});
