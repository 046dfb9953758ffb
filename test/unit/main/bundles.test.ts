// What the bundles of the programs may leave out.

import assert from 'node:assert/strict';
import type { Metafile } from 'esbuild';
import { missingPackages } from '../../../bundled-packages.mjs';

const outputOf = (imports: Metafile['outputs'][string]['imports']): Metafile['outputs'][string] => {
  return { imports, bytes: 1, inputs: {}, exports: [] };
};

suite('what bundles leave out', () => {
  test('packages that are needed, but no module of Node, also of a later one than builds', () => {
    const imports = ['pg', 'node:fs', 'fs', 'node:made-in-a-later-node'].map((path) => {
      return { path, kind: 'import-statement', external: true } as const;
    });
    const optional = { path: 'winston', kind: 'require-call', external: true } as const;
    const outputs = { 'cli.cjs': outputOf([...imports, optional]) };
    assert.deepEqual(missingPackages({ outputs }), ['pg']);
  });
});
