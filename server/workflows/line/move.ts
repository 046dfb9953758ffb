// The one way in which a landing ref moves.

import { ok } from '../../core/failure.ts';
import { landingRef, rescueRef } from '../../core/work/ref-names.ts';
import type { GitResult } from '../../git/port.ts';
import type { Sha } from '../../git/sha.ts';
import { includeBranch, noteDropped, noteTip, recordLine } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';

export interface LineMove {
  readonly next: Sha;
  readonly old: Sha | null;
  readonly reason: string;
  readonly as?: 'owner';
  /** The state of the branch that `next` includes, if it includes another one than `old`. */
  readonly includes?: Sha | null;
  /** People left `old` out of the branch. */
  readonly isLeft?: boolean;
  /** No workflow repeats the move and records it: it is recorded before. */
  readonly isAlone?: boolean;
}

/**
 * The store first records the ref's next value, so that after a death in between the tip is known
 * as Drover's, and the states of the branch in it as people's. A tip that the line no longer
 * contains is kept first, since nothing else may lead to the landings in it.
 */
export async function moveLine(
  engine: Uses<'git' | 'store'>,
  branch: string,
  move: LineMove,
): Promise<GitResult<void>> {
  const { git, store } = engine;
  const { next, old, reason, as, includes = null, isLeft = false, isAlone = false } = move;
  const ref = landingRef(branch);
  if (old !== null && !(await git.isAncestor(old, next))) {
    const kept = await keepTip(engine, branch, old, reason);
    if (!kept.ok) return kept;
  }
  // A move that is late must not change the recorded state of the one before.
  if ((await git.readRef(ref)) !== old) {
    const message = `The landing ref of ${branch} was just moved.`;
    return { ok: false, error: { kind: 'stale', retryable: true, message } };
  }
  await store.transaction(async (tx) => {
    await noteTip(tx, store.sources, branch, next);
    const followed = includes === null ? {} : { followed: includes };
    if (isAlone) await recordLine(tx, branch, { landed: next, ...followed });
    else if (includes !== null) await includeBranch(tx, branch, includes);
    if (isLeft && old !== null) await noteDropped(tx, branch, old);
  });
  return git.updateRef(ref, next, old, reason, as);
}

/** A landing on top of the line's tip. */
export interface MadeMerge {
  readonly tip: Sha;
  readonly commit: Sha;
  readonly includes?: Sha | null;
}

/** Whether the line has moved onto this merge already, in an earlier life of the same step. */
export async function isOnLine(
  { git }: Uses<'git'>,
  branch: string,
  made: MadeMerge,
): Promise<boolean> {
  const present = await git.readRef(landingRef(branch));
  if (present === made.commit) return true;
  if (present === null || present === made.tip) return false;
  return git.isAncestor(made.commit, present);
}

/** Keeps a tip that people, or a rewritten branch, leave out of the line. */
export async function keepTip(
  { git }: Uses<'git'>,
  branch: string,
  tip: Sha,
  reason: string,
): Promise<GitResult<void>> {
  const ref = rescueRef(branch, tip);
  if ((await git.readRef(ref)) !== null) return ok(undefined);
  const kept = await git.updateRef(ref, tip, null, reason);
  // Another process kept it at the same time: the name belongs to this tip only.
  return kept.ok || kept.error.kind === 'stale' ? ok(undefined) : kept;
}
