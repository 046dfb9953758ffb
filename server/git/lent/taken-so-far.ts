// Imports the work so far of a running confined program, because a snapshot must not depend on
// objects that only the program's folder contains.

import { MadeOnce } from '../../core/made-once.ts';
import { link, lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { exists, lstatOrNull } from '../../files/small-files.ts';
import { lentName } from '../refs/told-place.ts';
import type { LinkedWorktree } from '../refs/worktree-link.ts';
import { parseRefs } from '../refs/copied-store.ts';
import type { GitResult } from '../port.ts';
import { readTree } from '../ask/ancestry.ts';
import { readHead } from '../refs/worktree-heads.ts';
import type { Sha } from '../sha.ts';
import { importObjects } from './import-objects.ts';
import { scratchFolder } from './scratch.ts';

/** Packs that are already imported, by path, because packs are large and rare. */
const takenPacks = new MadeOnce<RepositoryContext, Set<string>>();

/**
 * How often to retry. An object is written after the objects that it refers to, but the folder is
 * not read atomically.
 */
const looksMax = 3;

/** Returns at once if nothing was lent or nothing is new. */
export async function takeSoFar(
  context: RepositoryContext,
  worktree: LinkedWorktree,
): Promise<GitResult<void>> {
  const objects = join(worktree.gitDir, lentName, 'objects');
  if (lstatOrNull(objects)?.isDirectory() !== true) return ok(undefined);
  const scratch = scratchFolder(context, worktree);
  const known = takenPacks.of(context, () => new Set());
  try {
    for (let look = 1; ; look += 1) {
      await rm(scratch, { recursive: true, force: true });
      const packs = await linkNew(context, objects, join(scratch, 'lent'), known);
      if (packs === null) return ok(undefined);
      const taken = await importObjects(context, scratch, join(scratch, 'lent'));
      if (taken.ok) for (const pack of packs) known.add(pack);
      if (taken.ok || look === looksMax) return taken;
    }
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/**
 * The commit of the program's branch, which only its own folder names until it ends. None if it is
 * `head` or not imported.
 */
export async function committedSoFar(
  context: RepositoryContext,
  { gitDir }: LinkedWorktree,
  head: Sha | null,
): Promise<readonly Sha[]> {
  const { branch } = readHead(gitDir);
  const sha = branch === null ? undefined : parseRefs(join(gitDir, lentName))[branch];
  if (sha === undefined || sha === head) return [];
  return (await readTree(context, sha)).ok ? [sha] : [];
}

/** Returns the new packs, or null if nothing is new. */
async function linkNew(
  context: RepositoryContext,
  objects: string,
  target: string,
  known: ReadonlySet<string>,
): Promise<readonly string[] | null> {
  const packs: string[] = [];
  let isNew = false;
  for (const folder of await readdir(objects)) {
    const isPacks = folder === 'pack';
    if (!isPacks && !/^[0-9a-f]{2}$/.test(folder)) continue;
    for (const name of await readdir(join(objects, folder)).catch(() => [])) {
      const path = join(objects, folder, name);
      const isWanted = isPacks
        ? /^pack-[0-9a-f]+\.(?:pack|idx)$/.test(name) && !known.has(path)
        : /^[0-9a-f]{38}(?:[0-9a-f]{24})?$/.test(name) &&
          !exists(join(context.commonDir, 'objects', folder, name));
      if (!isWanted || !(await linkPlain(path, join(target, folder), name))) continue;
      isNew = true;
      if (isPacks) packs.push(path);
    }
  }
  return isNew ? packs : null;
}

/** A symbolic link stays a link in the scratch folder, and is removed. */
async function linkPlain(path: string, folder: string, name: string): Promise<boolean> {
  await mkdir(folder, { recursive: true });
  const target = join(folder, name);
  try {
    await link(path, target);
  } catch {
    // It was just packed or removed.
    return false;
  }
  if ((await lstat(target)).isFile()) return true;
  await rm(target);
  return false;
}
