// How descriptions name images, and which bytes count as an image.

import assert from 'node:assert/strict';
import {
  findAttachments,
  attachmentText,
  detectImageType,
} from '../../../server/core/plan/attachments.ts';

const name = `${'0a'.repeat(32)}.png`;
const other = `${'1b'.repeat(32)}.webp`;

suite('attachments of a description', () => {
  test('each image is named once, in the order of the text', () => {
    const text = `![a](attachment:${other}) and ![b](attachment:${name}), again attachment:${other}.`;
    assert.deepEqual(findAttachments(text), [other, name]);
    assert.deepEqual(findAttachments(text, 1), [other]);
  });

  test("an image's alt text cannot end its Markdown", () => {
    assert.equal(attachmentText(name, 'a](x) [b\n`.png'), `![a x b .png](attachment:${name})`);
    assert.equal(attachmentText(name, ']('), `![image](attachment:${name})`);
  });

  test("the first bytes determine the format, not the file's name", () => {
    const typeOf = (text: string): string | null => detectImageType(Buffer.from(text, 'latin1'));
    assert.equal(typeOf('\x89PNG\r\n\x1a\nrest'), 'png');
    assert.equal(typeOf('\xff\xd8\xff\xe0'), 'jpg');
    assert.equal(typeOf('GIF87a'), 'gif');
    assert.equal(typeOf('GIF89a'), 'gif');
    assert.equal(typeOf('RIFF\x01\x02\x03\x04WEBPVP8 '), 'webp');
    for (const text of ['', 'GIF', '<svg xmlns="x"/>', 'RIFF1234WAVE', '#!/bin/sh', '%PDF-1.7'])
      assert.equal(typeOf(text), null, text);
  });
});
