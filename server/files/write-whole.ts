// Small files that readers find whole: as they are now, or as they were before.

import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';

/** Also after a crash of the machine: the content is on the disk before the file has its name. */
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

/** Cheaper: after a crash of the machine it may be empty. */
export function replaceFile(path: string, content: string): void {
  writeFileSync(`${path}.new`, content, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
