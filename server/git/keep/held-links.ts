// Finds new symbolic links of an attempt that lead out of the project. The next program of the user
// that writes to such a path writes elsewhere, with the user's permissions.

import { err, ok } from '../../core/failure.ts';
import { protectedAmong } from '../../core/plan/protected-paths.ts';
import type { RepositoryContext } from '../context.ts';
import { readBlobs } from '../ask/blobs.ts';
import { type PathBytes, shown, splitZero } from '../../files/path-bytes.ts';
import type { GitResult } from '../port.ts';
import { failureOf } from '../failures.ts';
import type { Sha } from '../sha.ts';

const linkMode = '120000';
/** The operating system's own limit. */
const stepsMax = 40;
const targetBytesMax = 4_096;

export interface LinkRange {
  readonly base: Sha;
  readonly tip: Sha;
  /** Patterns of links that the project allows. */
  readonly allowed: readonly string[];
}

/** Links of the tip that lead out, by path, with their targets. Excludes those of the base. */
export async function newLinksOut(
  context: RepositoryContext,
  { base, tip, allowed }: LinkRange,
): Promise<GitResult<ReadonlyMap<PathBytes, PathBytes>>> {
  const none = ok(new Map<PathBytes, PathBytes>());
  if (base === tip) return none;
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--diff-filter=AMT', base, tip];
  const changed = await context.git(args);
  if (changed.code !== 0) return err(failureOf(changed, `compare ${base} with ${tip}`));
  const hasNew = splitZero(changed.stdout).some((part) => /^:\d{6} 120000 /.test(part));
  if (!hasNew) return none;
  const [now, before] = [await linksOf(context, tip), await linksOf(context, base)];
  if (!now.ok) return now;
  if (!before.ok) return before;
  const wasOut = new Set([...before.value.keys()].filter((path) => leadsOut(before.value, path)));
  const out = [...now.value].filter(([path, target]) => {
    if (wasOut.has(path) && before.value.get(path) === target) return false;
    return leadsOut(now.value, path) && protectedAmong([shown(path)], allowed).length === 0;
  });
  return ok(new Map(out));
}

type Links = ReadonlyMap<PathBytes, PathBytes>;

async function linksOf(context: RepositoryContext, commit: Sha): Promise<GitResult<Links>> {
  const listed = await context.git(['ls-tree', '-r', '-z', '--full-tree', commit]);
  if (listed.code !== 0) return err(failureOf(listed, `list the links of ${commit}`));
  const ids = new Map<PathBytes, Sha>();
  for (const entry of splitZero(listed.stdout)) {
    const tab = entry.indexOf('\t');
    const [mode, , id = ''] = entry.slice(0, tab).split(' ');
    if (mode === linkMode) ids.set(entry.slice(tab + 1), id);
  }
  const targets = await readBlobs(context, [...ids.values()], targetBytesMax);
  if (!targets.ok) return targets;
  const links = [...ids].map(([path, id]) => {
    // A target longer than any path leads nowhere.
    return [path, targets.value.get(id)?.toString('latin1') ?? ''] as const;
  });
  return ok(new Map(links));
}

/**
 * Whether the link, or another link on its way, is absolute or leaves the tree. Git's own folder is
 * not part of the tree. A loop leads nowhere.
 */
function leadsOut(links: Links, link: PathBytes): boolean {
  const way = link.split('/').slice(0, -1);
  const left = partsOf(links.get(link) ?? '');
  if (isWhole(links.get(link) ?? '')) return true;
  for (let steps = 0; steps < stepsMax;) {
    const part = left.shift();
    if (part === undefined) return false;
    if (part === '..') {
      if (way.pop() === undefined) return true;
      continue;
    }
    way.push(part);
    if (way[0]?.toLowerCase() === '.git') return true;
    const target = links.get(way.join('/'));
    if (target === undefined) continue;
    if (isWhole(target)) return true;
    steps += 1;
    way.pop();
    left.unshift(...partsOf(target));
  }
  return false;
}

function partsOf(target: PathBytes): PathBytes[] {
  return target.split('/').filter((part) => part !== '' && part !== '.');
}

/** Includes absolute Windows paths, because a checkout there creates the link with it. */
function isWhole(target: PathBytes): boolean {
  return target.startsWith('/') || /^(?:[a-z]:)?[\\/]|^[a-z]:/i.test(target);
}
