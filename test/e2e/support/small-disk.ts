// A separate small disk for a folder, so that a test can fill it.

import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

/** If the tests do not run as root, their machines allow sudo without a password. */
function asRoot(program: string, args: readonly string[]): void {
  if (process.getuid?.() === 0) execFileSync(program, args);
  else execFileSync('sudo', ['-n', program, ...args]);
}

/** Creates the folder; the returned function removes the disk. */
export function mountDisk(folder: string, bytes: number): () => void {
  mkdirSync(folder, { recursive: true });
  const options = `size=${bytes},mode=0700,uid=${process.getuid?.() ?? 0}`;
  asRoot('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  return () => asRoot('umount', ['--lazy', folder]);
}
