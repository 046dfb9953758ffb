// The program under test: the bundles in dist/, built once if a source is newer.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..', '..', '..');

/**
 * Another folder of bundles can be given, so that a concurrent build does not change the program
 * during a test.
 */
const dist = process.env['DROVER_E2E_DIST'] ?? join(root, 'dist');

let isBuilt = false;

/** Full path of the `drover` command's bundle; the backend's is beside it. */
export function droverProgram(): string {
  const cli = join(dist, 'cli.js');
  if (!isBuilt && process.env['DROVER_E2E_DIST'] === undefined && isStale(cli)) {
    execFileSync(process.execPath, ['esbuild.config.mjs'], { cwd: root, stdio: 'inherit' });
  }
  isBuilt = true;
  return cli;
}

function isStale(bundle: string): boolean {
  if (!existsSync(bundle)) return true;
  const builtMs = statSync(bundle).mtimeMs;
  return readdirSync(join(root, 'server'), { recursive: true, withFileTypes: true }).some(
    (entry) =>
      entry.isFile() &&
      entry.name.endsWith('.ts') &&
      statSync(join(entry.parentPath, entry.name)).mtimeMs > builtMs,
  );
}
