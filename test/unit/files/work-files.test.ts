import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workFiles } from '../../../server/files/work-files.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('copies of ignored files', () => {
  let folder = '';
  let root = '';
  let slot = '';
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-copies-'));
    root = join(folder, 'repo');
    slot = join(folder, 'slot');
    mkdirSync(join(root, 'config'), { recursive: true });
    mkdirSync(slot);
    writeFileSync(join(root, '.env.test'), 'SECRET_OF_TESTS=1\n');
    writeFileSync(join(root, 'config', 'local.json'), '{}\n');
  });
  teardown(() => {
    removeFolder(folder);
  });

  const copy = (...paths: string[]): Promise<readonly string[]> =>
    workFiles.copyIgnored(root, slot, paths);

  test('a file is copied, even over an older copy and into new folders', async () => {
    writeFileSync(join(slot, '.env.test'), 'old\n');
    assert.deepEqual(await copy('.env.test', 'config/local.json'), [
      '.env.test',
      'config/local.json',
    ]);
    assert.equal(readFileSync(join(slot, '.env.test'), 'utf8'), 'SECRET_OF_TESTS=1\n');
    assert.equal(readFileSync(join(slot, 'config', 'local.json'), 'utf8'), '{}\n');
  });

  test('a link that an attempt left is replaced, and its target stays', async () => {
    const precious = join(folder, 'precious');
    writeFileSync(precious, 'precious\n');
    symlinkSync(precious, join(slot, '.env.test'));
    assert.deepEqual(await copy('.env.test'), ['.env.test']);
    assert.equal(readFileSync(precious, 'utf8'), 'precious\n');
    assert.equal(lstatSync(join(slot, '.env.test')).isSymbolicLink(), false);
  });

  test('a folder that is a link is not entered, and no folder is created behind it', async () => {
    const outside = join(folder, 'outside');
    mkdirSync(outside);
    mkdirSync(join(root, 'a', 'b'), { recursive: true });
    writeFileSync(join(root, 'a', 'b', 'c'), 'c\n');
    symlinkSync(outside, join(slot, 'a'));
    assert.deepEqual(await copy('a/b/c'), []);
    assert.equal(existsSync(join(outside, 'b')), false);
  });

  test('a link to a new file elsewhere creates no file there', async () => {
    symlinkSync(join(folder, 'new'), join(slot, '.env.test'));
    await copy('.env.test');
    assert.equal(existsSync(join(folder, 'new')), false);
  });
});
