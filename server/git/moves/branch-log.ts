// What the reflog of a branch says about its moves: which process set it to a commit, and whether
// the command that moved it away had seen that commit. A command that started before a landing and
// moved the branch after it does not undo the landing.

import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { isAncestor } from '../read/ancestry.ts';
import { readText } from '../files/small-files.ts';
import type { PeoplesTip } from '../port.ts';
import { branchRef, finalRef, resolveRevision } from '../refs/refs.ts';
import { isSha, type Sha } from '../sha.ts';

/**
 * Whether the branch was at the tip and was moved away from it: it has followed, although that was
 * not recorded (the backend died, or a person moved it before Drover checked). Following again
 * would bring back what they removed.
 */
export async function hasLeft(context: RepositoryContext, ref: string, tip: Sha): Promise<boolean> {
  const moves = movesOf(context, ref);
  const left = moves.filter((move) => move.startsWith(`${tip} `) && !givenUp.test(move));
  if (left.length !== 1 || left[0] !== moves.at(-1)) return left.length > 0;
  const to = left[0]?.split(' ')[1] ?? '';
  return (await takenBackUnseen(context, ref, tip, to as Sha)) === null;
}

/** Where the branch was before its last move, if that went to the tip; null: unknown. */
export function movedFrom(context: RepositoryContext, ref: string, tip: Sha): Sha | null {
  const [old = '', now] = (movesOf(context, ref).at(-1) ?? '').split(' ');
  return now === tip && isSha(old) ? old : null;
}

/**
 * Every commit that the branch was at, as far as its log goes back; where it is now is the last.
 */
export async function tipsOf(context: RepositoryContext, branch: string): Promise<readonly Sha[]> {
  const moves = movesOf(context, await finalRef(context, branchRef(branch)));
  const shas = moves.flatMap((move) => ends(move)).filter((sha) => isSha(sha) && !/^0+$/.test(sha));
  return [...new Set(shas.toReversed())].toReversed();
}

/** Drover's own moves; where the branch is checked out, git words them as a merge of the commit. */
const ofDrover = /\t(?:drover: |merge [0-9a-f]{40,}: Fast-forward$)/;
/** The commit came to be by this very move, instead of being somewhere before. */
const madeThere =
  /\t(?:commit|cherry-pick|revert|am|rebase \(finish\)|(?:merge|pull)\b.*: Merge made)/;

/** See the port. */
export async function peoplesTips(
  context: RepositoryContext,
  branch: string,
  since: Sha | null,
): Promise<readonly PeoplesTip[]> {
  const moves = movesOf(context, await finalRef(context, branchRef(branch)));
  const first = moves.findLastIndex((move) => ends(move).includes(since ?? ''));
  return moves.slice(Math.max(0, first)).flatMap((move) => {
    const [, sha = ''] = ends(move);
    if (sha === since || ofDrover.test(move) || !isSha(sha) || /^0+$/.test(sha)) return [];
    return [{ sha, isMade: madeThere.test(move) }];
  });
}

/** Oldest first: old commit, new commit, who, when, and after a tab why. */
function movesOf(context: RepositoryContext, ref: string): readonly string[] {
  return (readText(join(context.commonDir, 'logs', ref)) ?? '').trimEnd().split('\n');
}

/** The reason of a move of Drover's that ends one that a person's command had overtaken. */
export const putBackReason = 'drover: put back';

/**
 * A rebase that is aborted resets its branch to where it was when the rebase started, also over
 * what landed in the meantime. No person decided that, or a move that Drover itself took back.
 */
const givenUp = new RegExp(`\\t(?:rebase \\(abort\\)|${putBackReason}$)`);
const stepsBack = /\treset: moving to (?:HEAD|@)((?:[~^]\d*)+)$/;
const followed = /\t(?:merge [0-9a-f]+: Fast-forward|drover: land)$/;

/**
 * Where the branch was when the command started that took `from` out of it, if that command had not
 * seen `from`; null: it had, or that cannot be determined. `to`: where the branch is now, which can
 * be further on. For a reset by steps (`HEAD~1`), the log contains the start of the count.
 */
export async function takenBackUnseen(
  context: RepositoryContext,
  branch: string,
  from: Sha,
  to: Sha,
): Promise<Sha | null> {
  const moves = movesOf(context, await finalRef(context, branchRef(branch)));
  if (ends(moves.at(-1))[1] !== to || (await isAncestor(context, from, to))) return null;
  const at = await takenOutAt(context, moves, from);
  const move = moves[at] ?? '';
  const [left, put = ''] = ends(move);
  if (left === undefined || !isSha(put)) return null;
  if (givenUp.test(move)) return put;
  const steps = stepsBack.exec(move)?.[1];
  const landing = moves[at - 1] ?? '';
  const [began = '', landed = ''] = ends(landing);
  if (steps === undefined || landed !== left || !followed.test(landing)) return null;
  const leadsTo = async (commit: string): Promise<boolean> => {
    const found = await resolveRevision(context, `${commit}${steps}`);
    return found.ok && found.value === put;
  };
  return !(await leadsTo(left)) && (await leadsTo(began)) ? (began as Sha) : null;
}

/** The last of the moves since `from` that went from a commit with it to one without; -1: none. */
async function takenOutAt(
  context: RepositoryContext,
  moves: readonly string[],
  from: Sha,
): Promise<number> {
  const first = moves.findLastIndex((move) => move.startsWith(`${from} `));
  for (let at = moves.length - 1; first >= 0 && at >= first; at -= 1) {
    const [left = '', put = ''] = ends(moves[at]);
    if (!isSha(left) || !(await isAncestor(context, from, left))) continue;
    return isSha(put) && !(await isAncestor(context, from, put)) ? at : -1;
  }
  return -1;
}

/** The old and the new commit of a move. */
function ends(move: string | undefined): readonly string[] {
  return (move ?? '').split(' ', 2);
}
