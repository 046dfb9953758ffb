import assert from 'node:assert/strict';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderUse } from '../../../server/files/folder-use.ts';
import { removeFolder } from '../../remove-folder.ts';

const mb = 1024 * 1024;

suite('the space that deleting a folder frees', () => {
  let root = '';
  let slot = '';
  setup(() => {
    root = mkdtempSync(join(tmpdir(), 'drover-use-'));
    slot = join(root, 'slot');
    mkdirSync(join(slot, 'deep', 'er'), { recursive: true });
    mkdirSync(join(root, 'other'));
  });
  teardown(() => {
    removeFolder(root);
  });

  const write = (path: string): void => writeFileSync(join(root, path), Buffer.alloc(mb, 1));
  /** Does not count the folders and what the file system adds. */
  const inMb = async (): Promise<number> => Math.round((await folderUse(slot)) / mb);

  test('files at any depth count, and a missing folder counts nothing', async () => {
    write('slot/a');
    write('slot/deep/er/b');
    assert.equal(await inMb(), 2);
    assert.equal(await folderUse(join(root, 'nowhere')), 0);
  });

  test('links are not followed', async () => {
    write('other/big');
    symlinkSync(join(root, 'other'), join(slot, 'folder'));
    symlinkSync(join(root, 'other', 'big'), join(slot, 'file'));
    assert.equal(await inMb(), 0);
  });

  test('a file with two names in the folder counts once', async () => {
    write('slot/a');
    linkSync(join(slot, 'a'), join(slot, 'deep', 'a'));
    assert.equal(await inMb(), 1);
  });

  test('a file that another folder also contains does not count', async () => {
    write('other/shared');
    linkSync(join(root, 'other', 'shared'), join(slot, 'a'));
    assert.equal(await inMb(), 0);
  });

  test('holes take no space', async () => {
    write('slot/a');
    truncateSync(join(slot, 'a'), 100 * mb);
    assert.equal(await inMb(), 1);
  });
});
