// Locks of our own refs that a killed git has left behind: git never removes them, and nobody holds
// one there for long.

import { rm } from 'node:fs/promises';
import { relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RepositoryContext } from '../context.ts';
import { factsOf } from './small-files.ts';

const pauseMs = 50;
const ownRefs = /^refs[/\\](?:drover|heads[/\\]drover)[/\\]/;

/**
 * True when the lock is one of our own refs and is gone now: given back, or removed because it
 * stood for too long.
 */
export async function outlastOwnLock(context: RepositoryContext, lock: string): Promise<boolean> {
  if (!ownRefs.test(relative(context.commonDir, lock))) return false;
  for (;;) {
    const facts = factsOf(lock);
    if (facts === null) return true;
    if (Date.now() - facts.mtimeMs >= context.staleLockMs) break;
    await delay(pauseMs);
  }
  await rm(lock, { force: true });
  return true;
}
