// The environment of a machine whose clock is wrong, with Debian's libfaketime.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const aheadMs = 600_000;

export function wrongClock(): Readonly<Record<string, string>> {
  return {
    LD_PRELOAD: fakeTimeLibrary(),
    FAKETIME: `+${aheadMs / 1_000}s`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}

/** In whichever folder the machine's architecture uses. */
function fakeTimeLibrary(): string {
  const root = '/usr/lib';
  const found = readdirSync(root)
    .map((name) => join(root, name, 'faketime', 'libfaketime.so.1'))
    .find((path) => existsSync(path));
  return found ?? assert.fail('libfaketime is missing here: apt-get install libfaketime');
}
