// Retention in a folder of logs removes the oldest logs and never the newest.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeOldest } from '../../../server/upkeep/upkeep.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('upkeep', () => {
  test('the newest files of a folder are kept', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'drover-upkeep-'));
    for (const [at, name] of ['c', 'a', 'd', 'b'].entries()) {
      writeFileSync(join(folder, name), '');
      utimesSync(join(folder, name), at, at);
    }
    await removeOldest(folder, 5);
    assert.equal(readdirSync(folder).length, 4);
    await removeOldest(folder, 2);
    assert.deepEqual(readdirSync(folder).sort(), ['b', 'd']);
    removeFolder(folder);
    await removeOldest(folder, 2);
  });
});
