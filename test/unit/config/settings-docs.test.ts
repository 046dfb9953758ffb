// What can be set is written down.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import {
  settingKeys,
  settingTable,
  type SettingDefinition,
} from '../../../server/core/settings.ts';
import { withSettings } from '../../docs/settings-table.ts';

suite('the document of settings', () => {
  const text = readFileSync('docs/settings.md', 'utf8');

  test('names every environment variable that is read (npm run docs writes it)', () => {
    const missing = settingKeys
      .map((key) => (settingTable[key] as SettingDefinition).env)
      .filter((name) => name !== undefined && !text.includes(`\`${name}\``));
    assert.deepEqual(missing, []);
  });

  test('is made of the settings', () => {
    const made = withSettings('<!-- table: begin --> stale words <!-- table: end -->');
    assert.match(made, /\| `max_workers` \| `DROVER_WORKERS` \| `--workers` \|/);
    assert.doesNotMatch(made, /stale words/);
  });
});
