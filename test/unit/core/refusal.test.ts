// The kinds of refusals: their meaning on the page, and the reading of a kind from another version.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toRefusalKind, refusalKinds } from '../../../server/core/failure.ts';
import { withRefusals } from '../../docs/refusals-table.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/refusals.md'), 'utf8');

suite('kinds of refusals', () => {
  test('the page lists each of them, and no other', () => {
    assert.equal(withRefusals(page), page, 'run npm run docs');
    const rows = page.matchAll(/^`([^`]+)` \|/gm);
    const [, last = ''] = page.split('kind of failed attempts:');
    const failures = last.matchAll(/`([a-z_]+)`[,.]/g);
    const named = [...rows, ...failures].map(([, kind]) => kind ?? '');
    assert.deepEqual([...new Set(named)].toSorted(), [...refusalKinds].toSorted());
  });

  test('a kind that this version does not know is still a refusal', () => {
    assert.equal(toRefusalKind('unknown_id'), 'unknown_id');
    for (const word of ['constructor', 'of tomorrow', 7, null, undefined]) {
      assert.equal(toRefusalKind(word), 'refused');
    }
  });
});
