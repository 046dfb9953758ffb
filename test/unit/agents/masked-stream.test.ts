// Secrets in a stream that is cut anywhere.

import assert from 'node:assert/strict';
import { MaskedStream } from '../../../server/agents/kit/log/masked-stream.ts';

function check(text: string, secrets: readonly string[], expected: string): void {
  const bytes = Buffer.from(text);
  for (let size = 1; size <= bytes.length; size += 1) {
    let got = '';
    const stream = new MaskedStream(secrets, (part) => (got += part));
    for (let at = 0; at < bytes.length; at += size) stream.add(bytes.subarray(at, at + size));
    stream.end();
    assert.equal(got, expected, `in pieces of ${size} bytes`);
  }
}

suite('masked streams', () => {
  for (const [name, text, secrets, expected] of [
    ['nothing secret', 'plain\ntext\n', [], 'plain\ntext\n'],
    ['in the middle', 'a hunter2x b', ['hunter2x'], 'a [hidden] b'],
    ['at both ends', 'hunter2x-hunter2x', ['hunter2x'], '[hidden]-[hidden]'],
    ['only begun', 'the end is hunter2', ['hunter2x'], 'the end is hunter2'],
    ['in base64', 'a aHVudGVyMi1hYmMt! b', ['hunter2-abc-'], 'a [hidden]! b'],
    ['letters of more bytes', 'ü→schlüssel→ü', ['schlüssel'], 'ü→[hidden]→ü'],
  ] as const) {
    test(name, () => check(text, secrets, expected));
  }
});
