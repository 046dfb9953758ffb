// Each row of the worker contract, and each hostile worker, has a test by its name; docs/worker-runtime.md lists them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rowTests, withConformance } from '../../docs/conformance-table.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const page = readFileSync(join(root, 'docs/worker-runtime.md'), 'utf8');

function numbered(letter: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${letter}${String(n + 1).padStart(2, '0')}`);
}

suite('rows of the worker contract', () => {
  const rows = [...numbered('C', 45), ...numbered('R', 24)];

  test('each is the name of exactly one test', () => {
    const own = rowTests().filter(({ isFurther }) => !isFurther);
    assert.deepEqual(own.map(({ row }) => row).toSorted(), rows);
    const shared = own.filter(({ what }) => /\b[CR]\d\d\b/.test(what));
    assert.deepEqual(shared, [], 'no test bears two rows');
    const many = own.filter(({ what }) => what.includes('${'));
    assert.deepEqual(many, [], 'a title with a placeholder is many tests');
  });

  test('the page lists them unchanged', () => {
    assert.equal(withConformance(page), page, 'run npm run docs');
  });

  test('each hostile worker has a test by its name in the listed file', () => {
    const hostile = [...page.matchAll(/^\| (H\d\d|§5\.3) \| .+ \| `(.+)` \|$/gm)];
    assert.deepEqual(
      hostile.map(([, name]) => name),
      [...numbered('H', 11), '§5.3'],
    );
    const missing = hostile.filter(([, name, path = '']) => {
      const tests = readFileSync(join(root, path), 'utf8');
      return !new RegExp(`test\\(\\s*['"\`]${name} `).test(tests);
    });
    assert.deepEqual(
      missing.map(([, name]) => name),
      [],
    );
  });
});
