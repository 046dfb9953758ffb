// Work that exists under another commit, because people rebase and amend, and where continued work
// started.

import { baseOfAttemptBranch, lastAttempt, noteLandedAgain, readLine } from '../../store/port.ts';
import { landingRef } from '../../core/work/ref-names.ts';
import { landedAgainAs, landedWith } from './own-range.ts';
import type { Uses } from '../kit/engine-ports.ts';
import type { Sha } from '../../git/sha.ts';

/**
 * Notes under which commits the blockers' work is on the line now; true when one of them has
 * another than before.
 */
export async function findAgain(
  engine: Uses<'git' | 'store'>,
  line: string,
  blockers: readonly {
    readonly id: string;
    readonly sha: Sha;
    readonly commit_sha: Sha | null;
    readonly base_sha: Sha | null;
  }[],
): Promise<boolean> {
  const parent = (await readLine(engine.store.db, line))?.parent_branch ?? null;
  let isFound = false;
  for (const branch of parent === null ? [line] : [line, parent]) {
    const tip = await engine.git.readRef(landingRef(branch));
    if (tip === null) continue;
    for (const { id, sha, commit_sha: commit, base_sha: base } of blockers) {
      if (await engine.git.isAncestor(sha, tip)) continue;
      const attempt = await lastAttempt(engine.store.db, id);
      const task = { id, attempt: attempt?.number ?? null, commit, base };
      const again =
        (await landedAgainAs(engine, tip, task)) ?? (await landedWith(engine, sha, tip));
      if (again === null || again === sha) continue;
      isFound = true;
      const landed = { was: sha, sha: again, branch };
      await engine.store.transaction((tx) => noteLandedAgain(tx, id, landed));
    }
  }
  return isFound;
}

/** The base of the attempt that this is the branch of. */
export async function baseOfBranch(engine: Uses<'store'>, branch: string): Promise<Sha | null> {
  return baseOfAttemptBranch(engine.store.db, branch);
}
