// The guard in front of the reader: valid streams pass unchanged however they are cut; junk and
// oversized messages do not.

import assert from 'node:assert/strict';
import { MessageSizeGuard } from '../../../server/rpc/transport/size-guard.ts';

function framed(body: string): string {
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** The output, and the error, when the bytes arrive in pieces of `size`. */
function pass(bytes: Buffer, size: number, max = 1000): Promise<{ out: Buffer; error: string }> {
  return new Promise((resolve) => {
    const guard = new MessageSizeGuard(max);
    const parts: Buffer[] = [];
    let error = '';
    guard.on('data', (part: Buffer) => parts.push(part));
    guard.on('error', (failure) => (error = failure.message));
    guard.on('close', () => resolve({ out: Buffer.concat(parts), error }));
    for (let at = 0; at < bytes.length; at += size) guard.write(bytes.subarray(at, at + size));
    guard.end();
  });
}

suite('size guard', () => {
  const good = Buffer.from(
    framed('{"a":"é日"}') +
      framed('') +
      `Content-Type: application/json\r\n${framed('[]')}` +
      framed('x'.repeat(1000)),
  );
  for (const size of [1, 2, 3, 7, 20, 64, 4096]) {
    test(`valid messages are read in pieces of ${size}`, async () => {
      const { out, error } = await pass(good, size);
      assert.equal(error, '');
      assert.ok(out.equals(good));
    });
  }

  const bad: readonly (readonly [string, RegExp])[] = [
    [framed('x'.repeat(1001)), /too large/u],
    ['Content-Length: 99999999999999\r\n\r\n', /not understood/u],
    ['Content-Length: -1\r\n\r\n', /not understood/u],
    ['Content-Length: 1e3\r\n\r\n', /not understood/u],
    ['Content-Length:\r\n\r\n', /not understood/u],
    ['\r\n\r\n', /not understood/u],
    ['Content-Type: x\r\n\r\n', /not understood/u],
    ['Content-Length: 1\r\nContent-Length: 1\r\n\r\n', /not understood/u],
    [`X: ${'y'.repeat(5000)}`, /too long/u],
    [`${framed('[]')}GET / HTTP/1.1\r\n\r\n`, /not understood/u],
  ];
  for (const [text, reason] of bad) {
    for (const size of [1, 4096]) {
      test(`${JSON.stringify(text.slice(0, 40))} is refused in pieces of ${size}`, async () => {
        assert.match((await pass(Buffer.from(text), size)).error, reason);
      });
    }
  }
});
