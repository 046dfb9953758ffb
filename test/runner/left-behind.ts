// Cleans up after a runner that is killed (`kill -9`, a closed terminal): a small separate process
// waits for the end of the runner's pipe, then kills every process that names the runner's folder
// and removes that folder.

import { type ChildProcess, spawn } from 'node:child_process';
import { removeFolder } from '../remove-folder.ts';
import { killAllOf } from '../e2e/support/processes.ts';

/** Written by a runner that has stopped everything itself. */
const farewell = 'done';

const roundsMax = 100;
const roundMs = 100;

/** Observes the calling runner; every process of its jobs names `folder` in its environment. */
export function watchOver(folder: string): { readonly close: () => void } {
  const watcher: ChildProcess = spawn(process.execPath, [import.meta.filename, folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.on('error', () => {});
  watcher.stdin?.on('error', () => {});
  // It blocks nothing: its pipe ends with the runner, however the runner ends.
  watcher.unref();
  (watcher.stdin as unknown as { unref?: () => void } | null)?.unref?.();
  return { close: () => watcher.stdin?.end(farewell) };
}

/** Kills processes that name the folder, until none is left. */
export async function endAllOf(folder: string): Promise<void> {
  await killAllOf(folder, roundsMax, roundMs);
  removeFolder(folder);
}

const [, program, watched] = process.argv;
if (program === import.meta.filename && watched !== undefined) {
  let said = '';
  process.stdin
    .setEncoding('utf8')
    .on('data', (text: string) => {
      said += text;
    })
    .on('end', () => {
      if (said !== farewell) void endAllOf(watched);
    });
}
