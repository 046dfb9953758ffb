// `strip` before `npm pack` reads the manifest, `restore` after it: the packed one has no scripts, which
// only a checkout can run and of which `npm install` would warn.

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
