// The start of work. A task lands its own range: from the recorded base of its attempt to its
// commit. People amend, rebase and reset: commits that they removed must not come back with it.

import type { Sha } from '../../git/sha.ts';
import { droppedTips, readLine } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';

interface Work {
  /** The commit that the work is merged onto. */
  readonly head: Sha;
  readonly commit: Sha;
}

/**
 * The base of the one three-way merge with which the work lands if people removed its base from the
 * line. Returns null if the line has the base: then an ordinary merge is right.
 */
export async function ownBase(
  engine: Uses<'git'>,
  { head, commit, base }: Work & { readonly base: Sha | null },
): Promise<Sha | null> {
  const { git } = engine;
  if (base === null || (await git.isAncestor(base, head))) return null;
  // A person who merged the line into the work by hand decided on every conflict with it: the work
  // starts at both, or each of these lines would conflict once more.
  const joined = await git.mergeBase(commit, head);
  if (joined === null || (await git.isAncestor(joined, base))) return base;
  return bothBases(engine, joined, base);
}

/**
 * The same for the line of an epic, whose base is the newest state of its target that people
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
    // Several that lie side by side: with one of them as the base, the content of the other would
    // count as the epic's own.
    base = isNewer ? removed : await bothBases(engine, base ?? removed, removed);
  }
  return ownBase(engine, { head, commit, base });
}

/**
 * The commit that the agent itself merged from the target, and that people removed from it since;
 * null if there is none. A person must say whether the work is right without that commit.
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

/** Commits of states which people removed from the line or its target, and which the work holds. */
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

/** The one of two bases that has the content of both; of a file that differs, the first one's. */
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

/** Tips that people have taken out of the line or of its target. */
export async function droppedFrom(engine: Uses<'store'>, line: string): Promise<readonly Sha[]> {
  const known = await readLine(engine.store.db, line);
  const parent = known?.parent_branch ?? null;
  const above = parent === null ? null : await readLine(engine.store.db, parent);
  return [...new Set([...droppedTips(known), ...droppedTips(above)])];
}
