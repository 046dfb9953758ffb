// Removes what a test or a runner has made, also where a killed test has left a disk mounted in it.

import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';

/** Every file system that is mounted below the folder, the innermost first. */
export function unmountBelow(folder: string): void {
  if (process.platform !== 'linux') return;
  const mounted = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((at) => at.startsWith(`${folder}/`));
  // Lazy: a process that is being killed may still stand in it.
  for (const at of mounted.toReversed()) execFileSync('umount', ['--lazy', at]);
}

/** Waits a little where something is still being written. */
export function removeFolder(folder: string): void {
  unmountBelow(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
