// Where people had a branch, as its reflog lists it.

import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { readText } from '../../files/small-files.ts';
import type { PeoplesTip } from '../port.ts';
import { branchRef, finalRef } from '../refs/refs.ts';
import { isSha, type Sha } from '../sha.ts';

/** Drover's own moves; where the branch is checked out, git words them as a merge of the commit. */
const ofDrover = /\t(?:drover: |merge [0-9a-f]{40,}: Fast-forward$)/;
/** The commit came to be by this very move, instead of being somewhere before. */
const madeThere =
  /\t(?:commit|cherry-pick|revert|am|rebase \(finish\)|(?:merge|pull)\b.*: Merge made)/;

/** Implements the port's method. */
export async function peoplesTips(
  context: RepositoryContext,
  branch: string,
  since: Sha | null,
): Promise<readonly PeoplesTip[]> {
  const ref = await finalRef(context, branchRef(branch));
  const log = readText(join(context.commonDir, 'logs', ref)) ?? '';
  const moves = log.trimEnd().split('\n');
  const first = moves.findLastIndex((move) => ends(move).includes(since ?? ''));
  return moves.slice(Math.max(0, first)).flatMap((move) => {
    const [, sha = ''] = ends(move);
    if (sha === since || ofDrover.test(move) || !isSha(sha) || /^0+$/.test(sha)) return [];
    return [{ sha, isMade: madeThere.test(move) }];
  });
}

/** The old and the new commit of a move. */
function ends(move: string): readonly string[] {
  return move.split(' ', 2);
}
