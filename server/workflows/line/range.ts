// Determines the base of work. A task lands its own range, from the recorded base of its attempt to
// its commit. Users amend, rebase and reset, and commits that they removed must not be restored by
// a landing.

import type { Sha } from '../../git/sha.ts';
import { droppedTips, readLine } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';

interface Work {
  /** The commit that the work is merged onto. */
  readonly head: Sha;
  readonly commit: Sha;
}

/**
 * The base for a three-way merge of work whose original base users removed from the line. Returns
 * null if the line still has that base, so that an ordinary merge is correct.
 */
export async function ownBase(
  engine: Uses<'git'>,
  { head, commit, base }: Work & { readonly base: Sha | null },
): Promise<Sha | null> {
  const { git } = engine;
  if (base === null || (await git.isAncestor(base, head))) return null;
  // A person who merged the line into the work by hand resolved every conflict with it. The base
  // must include both, or the same lines would conflict again.
  const joined = await git.mergeBase(commit, head);
  if (joined === null || (await git.isAncestor(joined, base))) return base;
  return bothBases(engine, joined, base);
}

/**
 * Like `ownBase`, for an epic's line, whose base is the latest state of its target that users
 * removed.
 */
export async function ownBaseOfLine(
  engine: Uses<'git' | 'store'>,
  line: string,
  { head, commit }: Work,
): Promise<Sha | null> {
  let base: Sha | null = null as Sha | null;
  for (const removed of await removedFrom(engine, line, { head, commit })) {
    if (base !== null && (await engine.git.isAncestor(removed, base))) continue;
    const isNewer: boolean = base === null || (await engine.git.isAncestor(base, removed));
    // Several removed states may not be ancestors of each other. With only one of them as the base,
    // the content of the others would count as the epic's own work.
    base = isNewer ? removed : await bothBases(engine, base ?? removed, removed);
  }
  return ownBase(engine, { head, commit, base });
}

/**
 * A commit that the agent merged from the target and that users have removed since; null if there
 * is none. A person must decide whether the work is correct without that commit.
 */
export async function removedInWork(
  engine: Uses<'git' | 'store'>,
  line: string,
  { head, commit, base }: Work & { readonly base: Sha | null },
): Promise<Sha | null> {
  for (const removed of await removedFrom(engine, line, { head, commit })) {
    if (base === null || !(await engine.git.isAncestor(removed, base))) return removed;
  }
  return null;
}

/** Commits in the work that belong to states which users removed from the line or its target. */
async function removedFrom(
  engine: Uses<'git' | 'store'>,
  line: string,
  { head, commit }: Work,
): Promise<readonly Sha[]> {
  const found: Sha[] = [];
  for (const tip of await droppedFrom(engine, line)) {
    const shared = await engine.git.mergeBase(commit, tip);
    if (shared !== null && !(await engine.git.isAncestor(shared, head))) found.push(shared);
  }
  return found;
}

/**
 * Merges two bases so that the result has the content of both. In conflicting files, the first base
 * wins.
 */
async function bothBases(engine: Uses<'git'>, one: Sha, other: Sha): Promise<Sha> {
  const both = await engine.git.merge({
    tip: one,
    commit: other,
    subject: 'drover: begin',
    trailers: [],
    preferTip: true,
  });
  return both.ok && both.value.kind === 'merged' ? both.value.commit : one;
}

/** Tips that users removed from the line or from its target. */
export async function droppedFrom(engine: Uses<'store'>, line: string): Promise<readonly Sha[]> {
  const known = await readLine(engine.store.db, line);
  const parent = known?.parent_branch ?? null;
  const above = parent === null ? null : await readLine(engine.store.db, parent);
  return [...new Set([...droppedTips(known), ...droppedTips(above)])];
}
