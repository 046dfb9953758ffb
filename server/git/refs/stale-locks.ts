// Locks in a slot that a killed agent left behind. Git never removes them, and no other process
// uses the slot.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lstatOrNull } from '../../files/small-files.ts';
import type { LinkedWorktree } from './worktree-link.ts';

const pauseMs = 50;
const lockNames = ['index.lock', 'HEAD.lock'];

/** Removes the locks of a slot that are older than `staleMs`. */
export async function dropStaleLocks(worktree: LinkedWorktree, staleMs: number): Promise<void> {
  for (const name of lockNames) {
    const file = join(worktree.gitDir, name);
    const ageMs = ageOf(file);
    if (ageMs !== null && ageMs >= staleMs) await rm(file, { force: true });
  }
}

/** Waits until each lock is released or, after at most `staleMs`, removed. */
export async function waitForStaleLocks(worktree: LinkedWorktree, staleMs: number): Promise<void> {
  for (const name of lockNames) {
    const file = join(worktree.gitDir, name);
    for (let waitedMs = 0; waitedMs < staleMs; waitedMs += pauseMs) {
      const ageMs = ageOf(file);
      if (ageMs === null || ageMs >= staleMs) break;
      await delay(pauseMs);
    }
  }
  await dropStaleLocks(worktree, staleMs);
}

function ageOf(file: string): number | null {
  const facts = lstatOrNull(file);
  return facts === null ? null : Date.now() - facts.mtimeMs;
}
