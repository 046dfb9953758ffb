// Whether a disk accepts files, found out by trying: nothing stays behind, and missing folders are
// skipped.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fullDiskAmong } from '../../../server/files/full-disk.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('a full disk', () => {
  let folder: string;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-disk-'));
  });
  teardown(() => removeFolder(folder));

  test('a disk with space is not reported, and the check leaves nothing behind', async () => {
    assert.equal(await fullDiskAmong([folder, join(folder, 'none'), folder]), null);
    assert.deepEqual(readdirSync(folder), []);
  });

  test('no full disk is reported if a file cannot be written for another reason', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    assert.equal(await fullDiskAmong([file, '/proc/self']), null);
  });
});
