// The sentence of a task whose base lacks the commit of a blocker.

import { branchRef, landingRef, resultBranch } from '../../core/work/ref-names.ts';
import { handMerge, handPick } from '../lines/hand-merge.ts';
import type { Uses } from '../kit/engine-ports.ts';
import type { Sha } from '../../git/sha.ts';

interface Blocker {
  readonly id: string;
  readonly sha: Sha;
  readonly landedOn: string | null;
}

/** Reports where the commit of a blocker is and what a person can do. */
export async function missingBaseSentence(
  engine: Uses<'git' | 'store'>,
  taskId: string,
  blocker: Blocker,
  line: string,
): Promise<string> {
  const { where, remedy } = await whereIs(engine, blocker, line);
  return `the commit of its blocker ${blocker.id} ${where}; ${remedy}, then drover resolve ${taskId}`;
}

async function whereIs(
  engine: Uses<'git' | 'store'>,
  { id, sha, landedOn }: Blocker,
  line: string,
): Promise<{ readonly where: string; readonly remedy: string }> {
  const gone = { where: `is no longer in ${landedOn ?? line}`, remedy: `reset ${id}` };
  if (landedOn === null || landedOn === line) return gone;
  for (const branch of [landedOn, resultBranch(landedOn)]) {
    const tip = await engine.git.readRef(branchRef(branch));
    if (tip !== null && (tip === sha || (await engine.git.isAncestor(sha, tip))))
      return {
        where: `is on ${branch}, not in ${line}`,
        remedy: await mergeAdvice(engine, { branch, tip }, line),
      };
  }
  return gone;
}

async function mergeAdvice(
  engine: Uses<'git' | 'store'>,
  from: { readonly branch: string; readonly tip: Sha },
  line: string,
): Promise<string> {
  const into = { branch: line, tip: (await engine.git.readRef(landingRef(line))) ?? from.tip };
  return (await handPick(engine, from, into)) ?? handMerge(engine, from, into, '');
}
