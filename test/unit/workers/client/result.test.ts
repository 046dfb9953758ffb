// C30–C34, C44: the data that a worker may send, and the part that comes into the worktree.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { pack, type Header } from 'tar-stream';
import { importResult, type Imported } from '../../../../server/workers/client/import-result.ts';
import { manifestProblems, readManifest } from '../../../../server/workers/client/manifest.ts';
import type { SentEntry } from '../../../../server/workers/client/pack.ts';
import {
  resultCaps,
  unpackResult,
  type ResultCaps,
} from '../../../../server/workers/client/unpack.ts';
import { removeFolder } from '../../../remove-folder.ts';

type Entry = readonly [header: Partial<Header> & { readonly name: string }, content?: string];

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
const sentFile = (text: string): SentEntry => ({
  kind: 'file',
  sha256: sha(text),
  isExecutable: false,
});

async function archiveOf(entries: readonly Entry[]): Promise<Buffer> {
  const archive = pack();
  for (const [header, content] of entries) archive.entry(header, content ?? '');
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive as AsyncIterable<Buffer>) chunks.push(chunk);
  return gzipSync(Buffer.concat(chunks));
}

function manifest(files: Readonly<Record<string, string>>): Entry {
  const lines = Object.entries(files).map(([path, text]) => `${sha(text)}  ./${path}\n`);
  return [{ name: '.drover-job/manifest.sha256' }, lines.join('')];
}

const plain = (files: Readonly<Record<string, string>>): Entry[] => [
  ...Object.entries(files).map(([name, text]): Entry => [{ name: `./${name}` }, text]),
  manifest(files),
];

suite('the result of a worker', () => {
  let folder: string;
  let root: string;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-result-'));
    root = join(folder, 'slot');
    mkdirSync(join(folder, 'scratch'));
    mkdirSync(join(root, '.git'), { recursive: true });
    writeFileSync(join(root, '.git/HEAD'), 'ours');
  });
  teardown(() => removeFolder(folder));

  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');

  async function brought(
    entries: readonly Entry[],
    sent: Readonly<Record<string, SentEntry>> = {},
    options: { readonly ignored?: readonly string[]; readonly caps?: ResultCaps } = {},
  ): Promise<Imported | string> {
    const archive = Readable.from([await archiveOf(entries)]);
    const before = new Map(Object.entries(sent));
    const caps = options.caps ?? resultCaps;
    const result = await unpackResult(archive, join(folder, 'scratch'), caps, before);
    if (!result.ok) return result.error;
    return await importResult({
      root,
      sent: before,
      result: result.value,
      submodules: [],
      ignored: async () => new Set(options.ignored ?? []),
    });
  }

  async function refusal(entries: readonly Entry[], caps: ResultCaps): Promise<string> {
    const refused = await brought(entries, {}, { caps });
    assert.ok(typeof refused === 'string');
    return refused;
  }

  test('new and changed files arrive with their mode, and unchanged ones are not written', async () => {
    write('a.txt', 'a');
    write('b.txt', 'b');
    const entries: Entry[] = [
      [{ name: 'a.txt' }, 'a'],
      [{ name: 'b.txt' }, 'changed'],
      [{ name: 'new/run', mode: 0o755 }, 'run'],
      [{ name: 'new/link', type: 'symlink', linkname: '../a.txt' }],
      manifest({ 'a.txt': 'a', 'b.txt': 'changed', 'new/run': 'run' }),
    ];
    const sent = { 'a.txt': sentFile('a'), 'b.txt': sentFile('b') };
    const imported = await brought(entries, sent);
    assert.ok(typeof imported !== 'string');
    const { taken, ...told } = imported;
    assert.deepEqual(told, { written: 3, removed: 0, notices: [] });
    assert.deepEqual([...taken.keys()].toSorted(), ['b.txt', 'new/link', 'new/run']);
    assert.equal(readdirSync(join(folder, 'scratch', 'files')).length, 2, 'nor kept');
    assert.equal(read('b.txt'), 'changed');
    assert.equal(read('new/link'), 'a');
  });

  test('a file whose name is not UTF-8 is left out and named, and the result stays complete', async () => {
    write('gone.txt', 'a');
    const files = { 'b.txt': 'b', 'caf\uFFFD': '1' };
    const imported = await brought(plain(files), { 'gone.txt': sentFile('a') });
    assert.ok(typeof imported !== 'string');
    assert.deepEqual([imported.written, imported.removed], [1, 1]);
    assert.deepEqual(imported.notices, ['Not taken, as the names are not UTF-8: caf\uFFFD.']);
  });

  test('C34 an uploaded file that is missing from a complete result is removed', async () => {
    write('gone/a.txt', 'a');
    write('stays.txt', 's');
    const imported = await brought(plain({ 'b.txt': 'b' }), { 'gone/a.txt': sentFile('a') });
    assert.ok(typeof imported !== 'string');
    assert.deepEqual([imported.written, imported.removed, imported.notices], [1, 1, []]);
    assert.ok(!existsSync(join(root, 'gone')));
    assert.equal(read('stays.txt'), 's');
  });

  test('C30 if the manifest lacks a file, or is missing, nothing is removed', async () => {
    write('a.txt', 'a');
    const sent = { 'a.txt': sentFile('a') };
    const lists = [
      manifest({ 'b.txt': 'b', 'c.txt': 'c' }),
      manifest({ 'b.txt': 'other' }),
      manifest({}),
    ];
    for (const list of [...lists, null]) {
      removeFolder(join(folder, 'scratch'));
      mkdirSync(join(folder, 'scratch'));
      const entries: Entry[] = [[{ name: 'b.txt' }, 'b'], ...(list ? [list] : [])];
      const imported = await brought(entries, sent);
      assert.ok(typeof imported !== 'string');
      assert.match(imported.notices.join(), /The result is incomplete/);
      assert.equal(read('a.txt'), 'a');
    }
  });

  const hostile: readonly (readonly [string, readonly Entry[]])[] = [
    ['../x', [[{ name: '../x' }, 'x']]],
    ['an absolute name', [[{ name: '/tmp/x' }, 'x']]],
    ['a drive', [[{ name: 'C:\\x' }, 'x']]],
    ['a hard link', [[{ name: 'h', type: 'link', linkname: '/etc/passwd' }]]],
    ['a device', [[{ name: 'd', type: 'character-device', devmajor: 1, devminor: 3 }]]],
    ['a pipe', [[{ name: 'p', type: 'fifo' }]]],
    [
      'a file through a link',
      [[{ name: 'a', type: 'symlink', linkname: '/tmp' }], [{ name: 'a/x' }, 'x']],
    ],
    [
      'a link over a folder',
      [[{ name: 'a/x' }, 'x'], [{ name: 'a', type: 'symlink', linkname: '/tmp' }]],
    ],
    [
      'a file twice',
      [
        [{ name: 'a' }, 'x'],
        [{ name: './a' }, 'y'],
      ],
    ],
  ];
  test('C31 an archive with escaping names, hard links, devices or files below links is refused completely', async () => {
    for (const [name, entries] of hostile) {
      const refused = await brought([[{ name: 'fine.txt' }, 'x'], ...entries]);
      assert.ok(typeof refused === 'string', name);
      assert.match(refused, /unsafe archive/, name);
      assert.deepEqual(readdirSync(folder).toSorted(), ['scratch', 'slot'], name);
      assert.deepEqual(readdirSync(root), ['.git'], name);
      removeFolder(join(folder, 'scratch'));
      mkdirSync(join(folder, 'scratch'));
    }
  });

  test('C31 also: nothing reaches .git, at any depth and in any case', async () => {
    const entries: Entry[] = [
      [{ name: '.git/hooks/post-checkout' }, 'x'],
      [{ name: 'sub/.GIT/config' }, 'x'],
      [{ name: 'sub/link', type: 'symlink', linkname: '../.git/HEAD' }],
    ];
    const imported = await brought([...entries, manifest({})]);
    assert.ok(typeof imported !== 'string');
    assert.match(imported.notices.join(), /a link out of the tree.*sub\/link/);
    assert.deepEqual(readdirSync(root), ['.git']);
    assert.deepEqual(readdirSync(join(root, '.git')), ['HEAD']);
  });

  test('C31 also: nothing is written through a link in the worktree', async () => {
    mkdirSync(join(folder, 'outside'));
    symlinkSync(join(folder, 'outside'), join(root, 'door'));
    const imported = await brought(plain({ 'door/deep/x': 'x' }));
    assert.ok(typeof imported !== 'string');
    assert.match(imported.notices.join(), /not a folder.*door\/deep\/x/);
    assert.deepEqual(readdirSync(join(folder, 'outside')), []);
  });

  test('C32 a decompression bomb is stopped at the limit', async () => {
    const caps = { ...resultCaps, totalBytes: 1_000_000, entries: 10, ratioFromBytes: 100_000 };
    const zeros = '\0'.repeat(2_000_000);
    assert.match(await refusal([[{ name: 'bomb' }, zeros]], caps), /unpacks to more/);
    removeFolder(join(folder, 'scratch'));
    mkdirSync(join(folder, 'scratch'));
    const large = { ...resultCaps, fileBytes: 10 };
    const refused = await refusal([[{ name: 'large' }, 'x'.repeat(11)]], large);
    assert.match(refused, /large exceeds max size \(11 > 10 bytes\)/);
  });

  test('C32 also: too many entries are refused', async () => {
    const entries = Array.from({ length: 12 }, (_, n): Entry => [{ name: `f${n}` }, 'x']);
    const refused = await refusal(entries, { ...resultCaps, entries: 10 });
    assert.match(refused, /too many entries/);
  });

  test('C33 secrets, ignored files and files that were never uploaded stay unchanged byte for byte', async () => {
    const mine = ['.env', 'node_modules/m', 'out.log', 'local.txt'];
    for (const path of mine) write(path, `mine\0${path}`);
    // A complete result that has none of them, and one that has others by their names.
    for (const theirs of [{}, Object.fromEntries(mine.map((path) => [path, 'theirs']))]) {
      const imported = await brought(plain({ 'a.txt': 'a', ...theirs }), {}, { ignored: mine });
      assert.ok(typeof imported !== 'string');
      assert.equal(imported.removed, 0);
      assert.deepEqual(
        mine.map(read),
        mine.map((path) => `mine\0${path}`),
      );
      removeFolder(join(folder, 'scratch'));
      mkdirSync(join(folder, 'scratch'));
    }
  });

  test('C44 a secret, an ignored file and a file that was not uploaded are not accepted, and are named', async () => {
    write('local.txt', 'mine');
    const files = {
      '.env': 'theirs',
      'sub/A.PEM': 'theirs',
      'local.txt': 'theirs',
      'out.log': 'x',
    };
    const imported = await brought(plain(files), {}, { ignored: ['out.log'] });
    assert.ok(typeof imported !== 'string');
    assert.equal(imported.written, 0);
    assert.deepEqual([...imported.taken.keys()], []);
    assert.deepEqual(readdirSync(root).toSorted(), ['.git', 'local.txt']);
    assert.match(imported.notices.join('\n'), /looks like a secret.*\.env, sub\/A\.PEM/);
    assert.match(imported.notices.join('\n'), /not uploaded.*local\.txt/);
    assert.match(imported.notices.join('\n'), /git ignores it.*out\.log/);
  });

  test('a truncated archive is refused', async () => {
    const whole = await archiveOf(plain({ 'a.txt': 'a'.repeat(5_000) }));
    const half = Readable.from([whole.subarray(0, whole.length - 30)]);
    const result = await unpackResult(half, join(folder, 'scratch'));
    assert.ok(!result.ok);
  });

  test('manifests of GNU and busybox are read, including escaped names', () => {
    const hash = 'a'.repeat(64);
    const text = `${hash}  ./a b\n${hash} *c\n\\${hash}  ./new\\nline\\\\\n`;
    const read = readManifest(text);
    assert.deepEqual([...(read ?? []).keys()], ['a b', 'c', 'new\nline\\']);
    assert.equal(readManifest('nonsense\n'), null);
    assert.deepEqual(manifestProblems(new Map([['a', hash]]), new Map()), ['a is missing']);
  });
});
