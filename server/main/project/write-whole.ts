// Writes a small file so that readers find all of it or what was there before, also after a crash.

import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';

export function writeWhole(path: string, content: string): void {
  const file = openSync(`${path}.new`, 'w', 0o600);
  try {
    writeFileSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.new`, path);
}
