// Removes the folders of a test or a runner, even if a killed test has left a disk mounted in one.

import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';

const attemptsMax = 6;
const delayMs = 200;

/** All file systems mounted below the folder, innermost first. */
export function unmountBelow(folder: string): void {
  if (process.platform !== 'linux') return;
  const mounted = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((at) => at.startsWith(`${folder}/`));
  // Lazy, because a process that is being killed may still be in it.
  for (const at of mounted.toReversed()) execFileSync('umount', ['--lazy', at]);
}

/**
 * Retries while a process that a test has stopped still writes or removes files. Node's own
 * `maxRetries` covers only some of the errors of that race, and none for a folder that disappears
 * while it is read (EBADF).
 */
export function removeFolder(folder: string): void {
  unmountBelow(folder);
  for (let attempt = 1; ; attempt += 1) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (problem) {
      if (attempt === attemptsMax) throw problem;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, delayMs);
    }
  }
}
