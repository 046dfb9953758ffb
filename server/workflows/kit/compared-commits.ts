// Caches comparisons of two commits, whose result never changes, because snapshots of the same work
// are compared for every prompt, every forecast and every candidate.

import { MadeOnce } from '../../core/made-once.ts';
import type { GitResult } from '../../git/port.ts';
import type { Sha } from '../../git/sha.ts';
import type { Reads } from '../../store/port.ts';
import type { Uses } from './engine-ports.ts';

/** Maximum number of cached comparisons, each with a few paths. */
const rememberedMax = 2_000;

type Paths = Promise<GitResult<readonly string[]>>;
const all = new MadeOnce<Reads, Map<string, Paths>>();

/** Paths that differ between the two commits. Null if git cannot tell. */
export async function pathsChanged(
  engine: Uses<'git' | 'store'>,
  from: Sha,
  to: Sha,
): Promise<readonly string[] | null> {
  return remembered(engine, `${from}..${to}`, () => engine.git.changedPaths(from, to));
}

/** Paths that git cannot merge. Empty if git cannot tell. */
export async function pathsInConflict(
  engine: Uses<'git' | 'store'>,
  one: Sha,
  other: Sha,
): Promise<readonly string[]> {
  const key = `${one} ${other}`;
  return (await remembered(engine, key, () => engine.git.conflicts(one, other))) ?? [];
}

async function remembered(
  engine: Uses<'store'>,
  key: string,
  ask: () => Paths,
): Promise<readonly string[] | null> {
  const known = all.of(engine.store.db, () => new Map());
  const answer = known.get(key) ?? ask();
  if (!known.has(key)) {
    if (known.size >= rememberedMax) known.clear();
    known.set(key, answer);
  }
  try {
    const paths = await answer;
    if (!paths.ok) known.delete(key);
    return paths.ok ? paths.value : null;
  } catch (error) {
    known.delete(key);
    throw error;
  }
}
