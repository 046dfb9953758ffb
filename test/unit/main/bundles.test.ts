// The packages that the bundles of the programs may leave out, and which of their chunks share a
// file.

import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import type { Metafile } from 'esbuild';
import { missingPackages } from '../../../build/bundled-packages.mjs';
import { partOf, partsOf, requireFromParts } from '../../../build/bundled-parts.mjs';

const outputOf = (imports: Metafile['outputs'][string]['imports']): Metafile['outputs'][string] => {
  return { imports, bytes: 1, inputs: {}, exports: [] };
};

suite('packages that the bundles omit', () => {
  test("packages that are required are bundled, but Node's own modules are not, even of a later Node than the build's", () => {
    const imports = ['pg', 'node:fs', 'fs', 'node:made-in-a-later-node'].map((path) => {
      return { path, kind: 'import-statement', external: true } as const;
    });
    const optional = { path: 'winston', kind: 'require-call', external: true } as const;
    const outputs = { 'cli.cjs': outputOf([...imports, optional]) };
    assert.deepEqual(missingPackages({ outputs }), ['pg']);
  });
});

suite('parts of the bundles', () => {
  const output = (entryPoint: string | null, ...imported: readonly string[]) => ({
    ...outputOf(imported.map((path) => ({ path, kind: 'import-statement' as const }))),
    ...(entryPoint !== null && { entryPoint }),
  });

  test('chunks that the same programs load share a file, and those of the version are separate', () => {
    const parts = partsOf({
      'dist/cli-main.cjs': output('server/cli/main.ts', 'dist/chunk-VERSION.cjs'),
      'dist/backend.cjs': output('server/main/backend-main.ts', 'dist/chunk-A.cjs'),
      'dist/mcp.cjs': output('server/main/mcp-main.ts', 'dist/chunk-B.cjs'),
      'dist/chunk-VERSION.cjs': output(null),
      'dist/chunk-A.cjs': output(null, 'dist/chunk-B.cjs', 'dist/chunk-VERSION.cjs'),
      'dist/chunk-B.cjs': output(null),
      'dist/chunk-RUN.cjs': output('server/cli/run-command.ts', 'dist/chunk-B.cjs'),
      'dist/chunk-RARE.cjs': output('server/doctor/doctor.ts'),
    });
    assert.deepEqual(Object.fromEntries(parts), {
      'chunk-A.cjs': 'part-backend.cjs',
      'chunk-B.cjs': 'part-backend-mcp-command.cjs',
      'chunk-RUN.cjs': 'part-command.cjs',
    });
  });

  test('a chunk is requested from its file', () => {
    const parts = new Map([['chunk-A.cjs', 'part-x.cjs']]);
    const code = 'var a = require("./chunk-A.cjs"), b = __toESM(require("./chunk-B.cjs"));';
    assert.equal(
      requireFromParts(code, 'part-x.cjs', parts),
      'var a = droverChunk("chunk-A.cjs"), b = require("./chunk-B.cjs");',
    );
    assert.match(
      requireFromParts(code, 'cli.cjs', parts),
      /chunkOf\("part-x\.cjs", "chunk-A\.cjs"\)/,
    );
  });

  test('a part has one byte per character and runs each chunk once, on demand', () => {
    const chunk = (name: string, code: string) => ({ name, code, map: '' });
    const { code } = partOf([
      chunk(
        'chunk-A.cjs',
        'ran.push("A"); module.exports = /^✖/.test("✖") && droverChunk("chunk-B.cjs");',
      ),
      chunk('chunk-B.cjs', 'ran.push("B"); module.exports = "b";'),
    ]);
    assert.match(code, /^[\0-\x7F]*$/u);
    const ran: string[] = [];
    const load = runInNewContext(code, { ran })() as (name: string) => unknown;
    assert.deepEqual([ran.length, load('chunk-A.cjs'), load('chunk-B.cjs')], [0, 'b', 'b']);
    assert.deepEqual(ran, ['A', 'B']);
  });
});
