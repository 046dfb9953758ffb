// What the log of a branch tells of how it was moved: by whom it has been at a commit, and whether
// who moved it away had seen that commit. A command that began before a landing and moves the
// branch after it is no word on what has landed.

import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { readText } from '../files/small-files.ts';
import { branchRef, finalRef, resolveRevision } from '../refs/refs.ts';
import type { Sha } from '../sha.ts';

/**
 * Whether the branch has been at the tip and was moved away from it: it has followed, although that
 * was not recorded (the backend died, or a person was quicker than our look). Following again would
 * bring back what they have taken out.
 */
export async function hasLeft(context: RepositoryContext, ref: string, tip: Sha): Promise<boolean> {
  const moves = movesOf(context, ref);
  const left = moves.filter((move) => move.startsWith(`${tip} `) && !givenUp.test(move));
  if (left.length !== 1 || left[0] !== moves.at(-1)) return left.length > 0;
  const to = left[0]?.split(' ')[1] ?? '';
  return (await takenBackUnseen(context, ref, tip, to as Sha)) === null;
}

/** Oldest first: old commit, new commit, who, when, and after a tab why. */
function movesOf(context: RepositoryContext, ref: string): readonly string[] {
  return (readText(join(context.commonDir, 'logs', ref)) ?? '').trimEnd().split('\n');
}

/**
 * A rebase that is given up puts its branch back where it was as the rebase began, also over what
 * has landed in that very moment. Nobody has decided on that.
 */
const givenUp = /\trebase \(abort\)/;
const stepsBack = /\treset: moving to (?:HEAD|@)((?:[~^]\d*)+)$/;
const followed = /\t(?:merge [0-9a-f]+: Fast-forward|drover: land)$/;

/**
 * Where the branch was as the command began that was the last to move it, from `from` to `to`, when
 * that command knew nothing of `from`; null: it did, or nothing else can be told. A reset by steps
 * (`HEAD~1`) says where it was counted from.
 */
export async function takenBackUnseen(
  context: RepositoryContext,
  branch: string,
  from: Sha,
  to: Sha,
): Promise<Sha | null> {
  const moves = movesOf(context, await finalRef(context, branchRef(branch)));
  const last = moves.at(-1) ?? '';
  if (!last.startsWith(`${from} ${to} `)) return null;
  if (givenUp.test(last)) return to;
  const steps = stepsBack.exec(last)?.[1];
  const landing = moves.at(-2) ?? '';
  const [began = '', landed = ''] = landing.split(' ');
  if (steps === undefined || landed !== from || !followed.test(landing)) return null;
  const leadsTo = async (commit: string): Promise<boolean> => {
    const found = await resolveRevision(context, `${commit}${steps}`);
    return found.ok && found.value === to;
  };
  return !(await leadsTo(from)) && (await leadsTo(began)) ? (began as Sha) : null;
}
