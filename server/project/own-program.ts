// Paths of Drover's own programs: files beside this one in a bundle; otherwise sources, which Node
// runs without a build.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));

/** `bundle`: a file of the bundle. `source`: relative to `server/main`, without the extension. */
export function ownProgram(bundle: string, source: string): string {
  const bundled = join(here, bundle);
  return existsSync(bundled) ? bundled : join(here, '..', 'main', `${source}.ts`);
}

/** The folders that an agent's process must be able to read to start one of them. */
export function ownFolders(): readonly string[] {
  if (existsSync(join(here, 'mcp.cjs'))) return [here];
  const root = join(here, '..', '..');
  return ['server', 'node_modules', 'package.json'].map((name) => join(root, name));
}
