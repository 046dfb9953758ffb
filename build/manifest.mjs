// `strip` runs before `npm pack` reads the manifest, and `restore` after it. The packed manifest
// has no scripts, because only a checkout can run them and `npm install` would warn about them.

import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const manifest = join(root, 'package.json');
const kept = join(root, 'out', 'checkout-package.json');

function strip() {
  mkdirSync(join(root, 'out'), { recursive: true });
  copyFileSync(manifest, kept);
  const { scripts: _, ...packed } = JSON.parse(readFileSync(manifest, 'utf8'));
  writeFileSync(manifest, `${JSON.stringify(packed, null, 2)}\n`);
}

if (process.argv[2] === 'strip') strip();
else renameSync(kept, manifest);
