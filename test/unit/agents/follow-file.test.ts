// Following a file: each line arrives whole, in order and once, however it was written.

import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileFollower, lineBytesMax } from '../../../server/agents/kit/log/follow-file.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('file follower', () => {
  let folder: string;
  let path: string;
  let follower: FileFollower | null;
  let lines: string[];
  let offsets: number[];
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-follow-'));
    path = join(folder, 'out');
    writeFileSync(path, '');
    follower = null;
    lines = [];
    offsets = [];
  });
  teardown(() => {
    follower?.stop();
    removeFolder(folder);
  });
  function follow(fromOffset = 0): FileFollower {
    follower = new FileFollower({
      path,
      fromOffset,
      onLine: (line, offset) => {
        lines.push(line);
        offsets.push(offset);
      },
    });
    return follower;
  }

  test('it joins lines of many pieces, with characters that are cut in the middle', async () => {
    const text = 'ä€😀 one\r\ntwo\n\nlast';
    const bytes = Buffer.from(text);
    const one = follow();
    for (const byte of bytes) {
      appendFileSync(path, Buffer.from([byte]));
      await one.drain();
    }
    assert.deepEqual(lines, ['ä€😀 one', 'two', '']);
    await one.finish();
    assert.deepEqual(lines, ['ä€😀 one', 'two', '', 'last']);
    assert.deepEqual(offsets, [15, 19, 20, bytes.length]);
  });

  test('it starts at an offset', async () => {
    appendFileSync(path, 'old\nnew\n');
    await follow(4).finish();
    assert.deepEqual(lines, ['new']);
  });

  test('it notices appended data by itself', async () => {
    const seen = new Promise<void>((resolve) => {
      follower = new FileFollower({ path, fromOffset: 0, onLine: () => resolve() });
    });
    appendFileSync(path, 'by itself\n');
    await seen;
  });

  test('it continues at the start after the file was emptied', async () => {
    const one = follow();
    appendFileSync(path, 'a\nb\nhal');
    await one.drain();
    truncateSync(path, 0);
    one.rewind();
    appendFileSync(path, 'f\nc\n');
    await one.finish();
    assert.deepEqual(lines, ['a', 'b', 'half', 'c']);
    assert.deepEqual(offsets, [2, 4, 2, 4]);
  });

  test('a line without an end is cut and marked', async () => {
    appendFileSync(path, 'x'.repeat(lineBytesMax + 10));
    appendFileSync(path, '\nafter\n');
    await follow().finish();
    assert.equal(lines.length, 2);
    assert.ok(lines[0]?.endsWith(' …[10 bytes of this line are not kept]'));
    assert.deepEqual(offsets, [lineBytesMax + 11, lineBytesMax + 17]);
    assert.equal(lines[1], 'after');
  });
});
