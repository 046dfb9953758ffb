// `drover/results/<branch>` contains the landed work while the branch cannot follow: the landing
// tip, or the same work without commits that users removed from the branch.

import { branchRef, resultBranch } from '../../core/work/ref-names.ts';
import type { Sha } from '../../git/sha.ts';
import { isNotedTip, noteTip } from '../../store/port.ts';
import { withGitFallback } from '../kit/git-trouble.ts';
import type { Uses } from '../kit/engine-ports.ts';

/**
 * `tip` is null if nothing must be shown any more. A person's commits on the branch are preserved.
 */
export async function keepResultBranch(
  engine: Uses<'git' | 'report' | 'store'>,
  branch: string,
  tip: Sha | null,
): Promise<void> {
  const name = resultBranch(branch);
  return withGitFallback(
    async () => {
      const present = await engine.git.readRef(branchRef(name));
      if (present === tip) return;
      if (present !== null && !(await mayLeave(engine, branch, present, tip))) return;
      if (tip !== null)
        await engine.store.transaction((tx) => noteTip(tx, engine.store.sources, branch, tip));
      const moved = await engine.git.moveBranch(name, tip, present);
      // A stale branch was moved by another process, which is as good.
      if (!moved.ok && moved.error.kind !== 'stale') engine.report(moved.error, `keeping ${name}`);
    },
    (trouble) => engine.report(trouble, `keeping ${name}`),
  );
}

/** Whether Drover wrote the branch's tip, or nothing is lost if the branch is deleted. */
async function mayLeave(
  engine: Uses<'git' | 'store'>,
  branch: string,
  present: Sha,
  tip: Sha | null,
): Promise<boolean> {
  if (await isNotedTip(engine.store.db, branch, present)) return true;
  const kept = tip ?? (await engine.git.readRef(branchRef(branch)));
  return kept !== null && (await engine.git.isAncestor(present, kept));
}
