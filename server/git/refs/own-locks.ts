// Locks of Drover's refs that a killed git left behind. Git never removes them, and no process
// holds one for long.

import { rm } from 'node:fs/promises';
import { relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RepositoryContext } from '../context.ts';
import { lstatOrNull } from '../../files/small-files.ts';

const pauseMs = 50;
const ownRefs = /^refs[/\\](?:drover|heads[/\\]drover)[/\\]/;

/**
 * Returns true if the lock is on one of our refs and is gone, because it was released or because it
 * was old and removed.
 */
export async function waitForOwnLock(context: RepositoryContext, lock: string): Promise<boolean> {
  if (!ownRefs.test(relative(context.commonDir, lock))) return false;
  for (;;) {
    const facts = lstatOrNull(lock);
    if (facts === null) return true;
    if (Date.now() - facts.mtimeMs >= context.staleLockMs) break;
    await delay(pauseMs);
  }
  await rm(lock, { force: true });
  return true;
}
