import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readPlainFile } from '../../../server/config/plain-file.ts';
import { loadSettings } from '../../../server/config/load.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('plain files', () => {
  let folder = '';
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-plain-'));
  });
  teardown(() => {
    removeFolder(folder);
  });

  async function check(make: (path: string) => unknown, expected: unknown): Promise<void> {
    const path = join(folder, 'file');
    await make(path);
    const read = await readPlainFile(path, { bytesMax: 100_000, links: 'refuse' });
    const told = read.kind === 'read' ? read.bytes.length : (read as { reason?: unknown }).reason;
    assert.deepEqual(told, expected);
  }

  test('a file of several chunks is read', () =>
    check((path) => writeFileSync(path, 'x'.repeat(100_000)), 100_000));
  test('an empty file is read', () => check((path) => writeFileSync(path, ''), 0));
  test('a file with one byte too many is refused', () =>
    check((path) => writeFileSync(path, 'x'.repeat(100_001)), {
      kind: 'too_long',
      bytes: 100_001,
    }));
  test('a huge sparse file is refused', () =>
    check(
      (path) => {
        writeFileSync(path, '');
        truncateSync(path, 1024 ** 3);
      },
      { kind: 'too_long', bytes: 1024 ** 3 },
    ));
  test('a link is refused', () =>
    check((path) => symlinkSync('/dev/zero', path), { kind: 'link' }));
  test('a pipe without a writer is refused', () =>
    check((path) => execFileSync('mkfifo', [path]), { kind: 'special' }));
  test('a folder is refused', () => check((path) => mkdirSync(path), { kind: 'folder' }));
  test('a socket is refused', async () => {
    const server = createServer();
    await check((path) => new Promise<void>((resolve) => server.listen(path, resolve)), {
      kind: 'special',
    });
    server.close();
  });

  test('a link is followed if requested, but only to plain files', async () => {
    const limits = { bytesMax: 10, links: 'follow' } as const;
    writeFileSync(join(folder, 'real'), 'text');
    symlinkSync('real', join(folder, 'link'));
    symlinkSync('/dev/zero', join(folder, 'zero'));
    const read = await readPlainFile(join(folder, 'link'), limits);
    assert.equal(read.kind === 'read' && read.bytes.toString(), 'text');
    const zero = await readPlainFile(join(folder, 'zero'), limits);
    assert.deepEqual(zero, { kind: 'refused', reason: { kind: 'special' } });
  });

  test("settings report what replaced their file, and a person's own file may be a link", async () => {
    const home = join(folder, 'home');
    mkdirSync(join(home, '.config', 'drover'), { recursive: true });
    writeFileSync(join(folder, 'mine.toml'), 'max_workers = 7\n');
    symlinkSync(join(folder, 'mine.toml'), join(home, '.config', 'drover', 'config.toml'));
    symlinkSync('mine.toml', join(folder, '.drover.toml'));
    const loaded = await loadSettings({
      root: folder,
      home,
      env: {},
      flags: {},
      needsSandbox: false,
    });
    assert.deepEqual(
      loaded.problems.map(({ message }) => message),
      ['.drover.toml is a symbolic link; replace it with a plain file.'],
    );
    assert.equal(loaded.settings.maxWorkers, 7);
  });
});
