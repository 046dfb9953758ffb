// Which tips a line trusts: only those that Drover has written, or that a person has given to the
// branch itself. Any other tip stops the line, with a sentence that names the remedy; it continues
// once that is done.

import { MadeOnce } from '../../core/made-once.ts';
import { err, type Failure, failure, ok, type Result } from '../../core/failure.ts';
import type { GitResult } from '../../git/port.ts';
import {
  expectFollow,
  holdLine,
  isNotedTip,
  type LineRow,
  noteTip,
  readLine,
  type Reads,
} from '../../store/port.ts';
import { landingRef, rescueRef } from '../../core/work/ref-names.ts';
import type { Uses } from '../kit/engine-ports.ts';
import type { Sha } from '../../git/sha.ts';

interface LineMove {
  readonly next: Sha;
  readonly old: Sha | null;
  readonly reason: string;
  readonly as?: 'owner';
}

/**
 * The one way in which a landing ref moves: what is written is noted before, so that it is known
 * again as ours, and a tip that the line does not hold any more is kept before, since nothing else
 * may lead to what had landed with it.
 */
export async function moveLine(
  engine: Uses<'git' | 'store'>,
  branch: string,
  { next, old, reason, as }: LineMove,
): Promise<GitResult<void>> {
  if (old !== null && !(await engine.git.isAncestor(old, next))) {
    const kept = await keepTip(engine, branch, old, reason);
    if (!kept.ok) return kept;
  }
  await engine.store.transaction((tx) => noteTip(tx, engine.store.sources, branch, next));
  return engine.git.updateRef(landingRef(branch), next, old, reason, as);
}

/** What a landing has made: a commit on top of the line's tip. */
export interface MadeMerge {
  readonly tip: Sha;
  readonly commit: Sha;
}

/** Whether the line has moved onto this merge already, in an earlier life of the same step. */
export async function isOnLine(
  engine: Uses<'git'>,
  branch: string,
  made: MadeMerge,
): Promise<boolean> {
  const present = await engine.git.readRef(landingRef(branch));
  if (present === made.commit) return true;
  if (present === null || present === made.tip) return false;
  return engine.git.isAncestor(made.commit, present);
}

/** Moves the line onto the merge, once. False: it has moved elsewhere in the meantime. */
export async function moveOnto(
  engine: Uses<'git' | 'store'>,
  branch: string,
  made: MadeMerge,
  reason: string,
): Promise<boolean> {
  if (await isOnLine(engine, branch, made)) return true;
  const moved = await moveLine(engine, branch, {
    next: made.commit,
    old: made.tip,
    reason,
    as: 'owner',
  });
  return moved.ok;
}

/**
 * For a move that no workflow repeats: after a crash halfway, `LineFollowing` lets the branch
 * follow.
 */
export async function moveLineAlone(
  engine: Uses<'git' | 'store'>,
  branch: string,
  next: Sha,
  old: Sha,
  reason: string,
): Promise<GitResult<void>> {
  await engine.store.transaction((tx) => expectFollow(tx, branch));
  return moveLine(engine, branch, { next, old, reason });
}

/** What people or a rewritten branch leave out of the line stays within reach. */
export async function keepTip(
  engine: Uses<'git'>,
  branch: string,
  tip: Sha,
  reason: string,
): Promise<GitResult<void>> {
  const ref = rescueRef(branch, tip);
  if ((await engine.git.readRef(ref)) !== null) return ok(undefined);
  const kept = await engine.git.updateRef(ref, tip, null, reason);
  // Another process kept it at the same time: the name belongs to this tip only.
  return kept.ok || kept.error.kind === 'stale' ? ok(undefined) : kept;
}

/** Another machine has landed since this one has looked: what it has written down is newer. */
export function isNewer(engine: Uses<'machineId'>, known: LineRow, landed: Sha): boolean {
  return engine.machineId !== '' && known.landed_sha !== landed;
}

/**
 * Lines that this process has checked once: from then on it knows everything that Drover writes
 * there.
 */
const lookedAt = new MadeOnce<Reads, Set<string>>();

/**
 * Maximum number of commits to check for Drover's marks if the database is older than the
 * repository.
 */
const unknownMax = 500;

/**
 * Null: the value is ours. Otherwise the sentence with the remedy. `known` was read before the ref.
 */
export async function whyNotOurs(
  engine: Uses<'git' | 'store'>,
  branch: string,
  found: Sha,
  known: LineRow | null,
): Promise<string | null> {
  const looked = lookedAt.of(engine.store.db, () => new Set());
  const isFirst = !looked.has(branch);
  const isOurs =
    known === null ||
    found === known.landed_sha ||
    (await isNotedTip(engine.store.db, branch, found)) ||
    // A power cut may have lost the last rows of the database: git is the second source for what
    // has landed.
    (isFirst && (await bearsOurHand(engine, known.landed_sha, found)));
  if (isOurs) {
    looked.add(branch);
    return null;
  }
  const ref = landingRef(branch);
  return (
    `${ref} was moved to ${short(found)}, which Drover did not write; nothing lands on ${branch} until a person decides: ` +
    `git update-ref ${ref} ${known.landed_sha} ${found} restores it (merge ${short(found)} into ${branch} first to keep what it holds)`
  );
}

async function bearsOurHand(engine: Uses<'git'>, from: Sha, to: Sha): Promise<boolean> {
  if (!(await engine.git.isAncestor(from, to))) return false;
  const commits = await engine.git.lineCommits(from, to, unknownMax);
  if (!commits.ok || commits.value.length === unknownMax) return false;
  return commits.value.every(
    ({ subject, parents, trailers }) =>
      subject.startsWith('drover: ') &&
      (parents.length === 2 || trailers.some((line) => line.startsWith('Drover-'))),
  );
}

/**
 * The landing ref is gone, and landed work waited there for the branch: it is made again, from what
 * was written down of it. Null: nothing waited, so that the branch is the truth.
 */
export async function remakeLost(
  engine: Uses<'git' | 'store'>,
  branch: string,
  known: LineRow | null,
): Promise<Result<Sha | null>> {
  if (known === null || known.followed_sha === known.landed_sha) return ok(null);
  const next = known.landed_sha;
  const reason = 'drover: the landing ref was gone';
  const made = await moveLine(engine, branch, { next, old: null, reason });
  if (made.ok) return ok(next);
  if (made.error.kind === 'stale') return ok(await engine.git.readRef(landingRef(branch)));
  return held(
    `${landingRef(branch)} was deleted, and git does not find ${next}, the landed work that it held for ${branch} (${made.error.message}); ` +
      `fetch that commit from a clone that has it, and run again`,
  );
}

/** Null: the branch may be made, because it has never been there or is a branch of Drover's own. */
export function whyGone(branch: string, known: LineRow | null): string | null {
  if (known === null || known.followed_sha === null || branch.startsWith('drover/')) return null;
  return (
    `branch ${branch} no longer exists (renamed or deleted); landed work is safe at ${landingRef(branch)}, and nothing more lands ` +
    `until a person decides: git branch ${branch} ${known.followed_sha} recreates it, or drover run --target <branch> lands elsewhere`
  );
}

/** Both refs of a line on which work has landed were deleted: only the database names that work. */
export function whyLost(branch: string, known: LineRow): string {
  const elsewhere = branch.startsWith('drover/')
    ? ''
    : ', or drover run --target <branch> lands elsewhere';
  return (
    `branch ${branch} and ${landingRef(branch)} no longer exist; finished work waits, and nothing more lands ` +
    `until a person decides: git branch ${branch} ${known.landed_sha} recreates the branch with the last landed commit${elsewhere}`
  );
}

/**
 * A stopped line records the reason in its row; one that can continue is free. `before`: its row
 * at the start of the check.
 */
export async function tellHold<T>(
  engine: Uses<'store'>,
  branch: string,
  outcome: Result<T>,
  before: LineRow | null,
): Promise<Result<T>> {
  const reason = outcome.ok
    ? null
    : outcome.error.kind === 'line_held'
      ? outcome.error.message
      : undefined;
  if (reason === undefined || reason === (before?.held_reason ?? null)) return outcome;
  const known = await readLine(engine.store.db, branch);
  if (known !== null && known.held_reason !== reason) {
    await engine.store.transaction((tx) => holdLine(tx, engine.store.sources, branch, reason));
  }
  return outcome;
}

export function held(reason: string): { readonly ok: false; readonly error: Failure } {
  return err(failure('line_held', reason));
}

function short(sha: Sha): string {
  return sha.slice(0, 12);
}
