// Bundles one webview as the build does, in memory and once per run, so that the tests need no dist/.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const root = resolve(import.meta.dirname, '../../..');
const icons = join(
  createRequire(import.meta.url).resolve('@vscode/codicons/package.json'),
  '../dist',
);
const bundles = new Map<string, Promise<string>>();

/** `entry`: a file, relative to the repository's root. Without a source map: each page would read three times as much. */
export function bundleOf(entry: string): Promise<string> {
  const known = bundles.get(entry);
  if (known !== undefined) return known;
  const made = bundle(entry);
  bundles.set(entry, made);
  return made;
}

async function bundle(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, entry)],
    bundle: true,
    write: false,
    platform: 'browser',
    target: 'es2024',
    format: 'esm',
    logLevel: 'warning',
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error(`${entry} made no bundle`);
  return file.text;
}

export function iconFont(): Buffer {
  return readFileSync(join(icons, 'codicon.ttf'));
}
