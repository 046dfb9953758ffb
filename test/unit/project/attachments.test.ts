// Images of descriptions on disk: stored whole and once, limited in size, and never read or written
// through a link.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attachmentBytesMax } from '../../../server/core/plan/attachments.ts';
import { keepAttachment, keptAttachments } from '../../../server/project/attachments.ts';
import { isPersonsDecision } from '../../../server/rpc/transport/decisions.ts';
import { removeFolder } from '../../remove-folder.ts';
import { refusalOf } from '../store/memory-store.ts';

const image = Buffer.from('GIF89a, an image');
const nameOf = (bytes: Uint8Array): string =>
  `${createHash('sha256').update(bytes).digest('hex')}.gif`;

suite('kept attachments', () => {
  let folder = '';
  let attachments = '';
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-kept-'));
    attachments = join(folder, 'attachments');
  });
  teardown(() => removeFolder(folder));

  test('an image is stored once, readable only by its owner', async () => {
    assert.equal(await keepAttachment({ attachments }, image), nameOf(image));
    assert.equal(await keepAttachment({ attachments }, image), nameOf(image));
    assert.deepEqual(readdirSync(attachments), [nameOf(image)]);
    const path = join(attachments, nameOf(image));
    assert.deepEqual(readFileSync(path), image);
    assert.deepEqual(
      [lstatSync(path).mode & 0o777, lstatSync(attachments).mode & 0o777],
      [0o600, 0o700],
    );
  });

  test('a file that is not an image, or too large, is refused and nothing is written', async () => {
    const script = await refusalOf(keepAttachment({ attachments }, Buffer.from('#!/bin/sh')));
    assert.deepEqual(
      [script.kind, script.message],
      ['file', 'An attachment must be an image (png, jpg, gif, webp).'],
    );
    const large = Buffer.concat([image, Buffer.alloc(attachmentBytesMax)]);
    const refused = await refusalOf(keepAttachment({ attachments }, large));
    assert.deepEqual(
      [refused.kind, refused.message],
      ['file', 'The image must not be larger than 5 MB. Make it smaller.'],
    );
    assert.deepEqual(readdirSync(folder), []);
  });

  test('a folder that is a link is not entered', async () => {
    const outside = join(folder, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, attachments);
    assert.equal((await refusalOf(keepAttachment({ attachments }, image))).kind, 'file');
    assert.deepEqual(readdirSync(outside), []);
    writeFileSync(join(outside, nameOf(image)), image);
    assert.deepEqual(await keptAttachments({ attachments }), []);
  });

  test('a link with the name of an image is replaced, and its target stays', async () => {
    const precious = join(folder, 'precious');
    writeFileSync(precious, 'precious');
    mkdirSync(attachments);
    symlinkSync(precious, join(attachments, nameOf(image)));
    assert.deepEqual(await keptAttachments({ attachments }), []);
    await keepAttachment({ attachments }, image);
    assert.equal(readFileSync(precious, 'utf8'), 'precious');
    assert.deepEqual(
      (await keptAttachments({ attachments })).map(({ name, bytes }) => [name, bytes]),
      [[nameOf(image), image.length]],
    );
  });

  test('no more files are stored than the folder may contain', async () => {
    mkdirSync(attachments);
    for (let at = 0; at < 2_000; at += 1)
      writeFileSync(join(attachments, `${String(at).padStart(64, '0')}.gif`), '');
    assert.equal((await refusalOf(keepAttachment({ attachments }, image))).kind, 'too_many');
    assert.equal(readdirSync(attachments).length, 2_000);
  });

  test('a process of a run may not attach one', () => {
    assert.equal(isPersonsDecision('attachment.add', { content: '' }), true);
  });
});
