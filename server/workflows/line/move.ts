// The only way to move a landing ref.

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
  /** The state of the branch that `next` includes, if `old` includes a different one. */
  readonly includes?: Sha | null;
  /** Users removed `old` from the branch. */
  readonly isLeft?: boolean;
  /** Recorded here, because no workflow repeats the move and records it. */
  readonly isAlone?: boolean;
}

/**
 * Moves the landing ref. The store records the new tip first, so that after a crash Drover
 * recognizes the tip as its own, and the included states of the branch as users'. A tip that the
 * line no longer contains is kept under a rescue ref first, because nothing else may lead to its
 * landings.
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
  // A late move must not change the state recorded by an earlier one.
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

/** Whether an earlier execution of the same step has already moved the line to this merge. */
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

/** Keeps a tip that users, or a rewritten branch, removed from the line. */
export async function keepTip(
  { git }: Uses<'git'>,
  branch: string,
  tip: Sha,
  reason: string,
): Promise<GitResult<void>> {
  const ref = rescueRef(branch, tip);
  if ((await git.readRef(ref)) !== null) return ok(undefined);
  const kept = await git.updateRef(ref, tip, null, reason);
  // Another process kept it at the same time. The name belongs to this tip only.
  return kept.ok || kept.error.kind === 'stale' ? ok(undefined) : kept;
}
