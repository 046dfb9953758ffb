import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { withTable } from '../../docs/agents-table.ts';

suite('docs/agents.md', () => {
  test("the page matches the drivers' declarations (npm run docs writes it)", () => {
    const text = readFileSync(new URL('../../../docs/agents.md', import.meta.url), 'utf8');
    assert.equal(withTable(text), text);
  });
});
