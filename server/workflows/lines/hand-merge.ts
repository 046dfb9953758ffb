// The merge that a person is advised to make by hand.

import type { Uses } from '../kit/engine-ports.ts';
import type { Sha } from '../../git/sha.ts';

interface Side {
  readonly branch: string;
  readonly tip: Sha;
}

/**
 * "merge a into b by hand"; with the command where git refuses a plain one, because the first
 * commit of one of them was amended since.
 */
export async function handMerge(
  engine: Uses<'git'>,
  from: Side,
  into: Side,
  how = ' by hand',
): Promise<string> {
  const advice = `merge ${from.branch} into ${into.branch}${how}`;
  const isRelated = (await engine.git.mergeBase(from.tip, into.tip)) !== null;
  return isRelated
    ? advice
    : `${advice} (git merge --allow-unrelated-histories ${from.branch}: they share no commit)`;
}
