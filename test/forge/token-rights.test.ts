// docs/forge.md says which permissions a token needs for each operation that Drover performs on
// GitHub.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { withForgeRights } from '../docs/forge-rights.ts';

const file = new URL('../../docs/forge.md', import.meta.url);

suite('permissions of tokens', () => {
  test('the page contains the table that the fake GitHub generates', async () => {
    const page = readFileSync(file, 'utf8');
    assert.equal(await withForgeRights(page), page, 'run npm run docs');
  });
});
