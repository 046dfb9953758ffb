// Addresses to listen on.

import assert from 'node:assert/strict';
import { parseListenAddress } from '../../../server/core/settings/listen-address.ts';

suite('listen address', () => {
  const good: readonly (readonly [string, string | null, number])[] = [
    [':8080', null, 8080],
    ['127.0.0.1:0', '127.0.0.1', 0],
    ['localhost:65535', 'localhost', 65_535],
    ['[::1]:80', '::1', 80],
    [' :1 ', null, 1],
  ];
  for (const [text, host, port] of good) {
    test(`${text} is read`, () => {
      assert.deepEqual(parseListenAddress(text), { ok: true, value: { host, port } });
    });
  }

  for (const text of ['', 'x', '8080', '127.0.0.1', '::1:80', ':65536', 'a b:80', ':-1', ':']) {
    test(`"${text}" is refused`, () => {
      assert.equal(parseListenAddress(text).ok, false);
    });
  }
});
