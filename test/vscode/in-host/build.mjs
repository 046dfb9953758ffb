// Bundles the tests that run inside the extension host: one CommonJS file each, so that all share VS Code's own mocha.

import { build } from 'esbuild';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const here = import.meta.dirname;
const root = resolve(here, '../../..');
/** Of this process alone: others may be building theirs. */
const testsFolder = join(root, 'out', 'test', `in-host-${process.pid}`);
export const testsEntry = join(testsFolder, 'index.js');

export async function buildTests() {
  process.once('exit', () => rmSync(testsFolder, { recursive: true, force: true }));
  mkdirSync(testsFolder, { recursive: true });
  const files = readdirSync(here).filter((name) => /^index\.ts$|\.test\.ts$/.test(name));
  await build({
    entryPoints: files.map((name) => join(here, name)),
    outdir: testsFolder,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    external: ['vscode', 'mocha'],
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  // The project is one of ES modules; these files are not.
  writeFileSync(join(testsFolder, 'package.json'), '{ "type": "commonjs" }\n');
}
