// Locks that git processes of ours leave behind when they are killed together with their backend: git never removes
// them. In our own corner of the refs nobody holds one for long. In a checkout of the user's only a lock counts that came
// to be while a branch was following, and only when no git process is at work there any more.

import { readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RepositoryContext } from './context.ts';
import { factsOf } from './small-files.ts';

const pauseMs = 50;
const ownRefs = /^refs[/\\](?:drover|heads[/\\]drover)[/\\]/;

/** True when the lock is one of our own refs and is gone now: given back, or removed because it stood for too long. */
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

type Place = Pick<RepositoryContext, 'commonDir'>;

/** Says on disk that the branch is about to follow; stays behind when this process dies in the middle of it. */
export function followMark(context: Place, ref: string): string {
  return join(context.commonDir, `drover-following-${encodeURIComponent(ref)}`);
}

/** Runs the body with the mark in place. Without one (a full disk) what is cut has to be cleared by a person. */
export async function markingFollow<T>(
  context: Place,
  ref: string,
  body: () => Promise<T>,
): Promise<T> {
  const mark = followMark(context, ref);
  try {
    writeFileSync(mark, '');
  } catch {
    return body();
  }
  try {
    return await body();
  } finally {
    rmSync(mark, { force: true });
  }
}

/** Longest that one follow takes, and how long a cut one rests where nobody can tell whether its git still runs. */
const followMaxMs = 10 * 60_000;
const restMs = 2 * 60_000;
/** File times are coarse: a lock may seem to be a little older than the mark that came before it. */
const coarseMs = 20;

/** Removes what an earlier follow of this branch has left locked when its process was killed. */
export async function clearCutFollow(
  context: Place,
  ref: string,
  owner: { readonly path: string; readonly gitDir: string } | null,
): Promise<void> {
  const mark = followMark(context, ref);
  const begun = factsOf(mark);
  if (begun === null) return;
  const places = owner === null ? [context.commonDir] : [owner.path, context.commonDir];
  if (isGitAtWork(places, begun.mtimeMs)) return;
  const names = ['index.lock', 'HEAD.lock', 'ORIG_HEAD.lock'];
  const locks = owner === null ? [] : names.map((name) => join(owner.gitDir, name));
  for (const lock of [...locks, join(context.commonDir, `${ref}.lock`)]) {
    const facts = factsOf(lock);
    if (facts === null) continue;
    const afterMs = facts.mtimeMs - begun.mtimeMs;
    if (afterMs >= -coarseMs && afterMs <= followMaxMs) await rm(lock, { force: true });
  }
  await rm(mark, { force: true });
}

function isGitAtWork(places: readonly string[], sinceMs: number): boolean {
  if (process.platform !== 'linux') return Date.now() - sinceMs < restMs;
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      if (!readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('git')) return false;
      const folder = readlinkSync(`/proc/${pid}/cwd`);
      return places.some((place) => folder === place || folder.startsWith(`${place}${sep}`));
    } catch {
      return false; // gone meanwhile, or of another user
    }
  });
}
