// Refuses a run because of a branch: a target with landed work that no longer exists, or a branch
// whose name prevents branches below `drover/`.

import { Refusal } from '../../core/failure.ts';
import { branchRef } from '../../core/work/ref-names.ts';
import { readLine } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';

/** A new root commit or a new branch would leave the landed work behind. */
export async function refuseLostBranch(
  { git, store }: Uses<'git' | 'store'>,
  branch: string,
): Promise<void> {
  const line = await readLine(store.db, branch);
  const found = line === null ? null : await git.resolve(line.landed_sha);
  if (found === null || !found.ok) return;
  throw new Refusal(
    'unknown_branch',
    `Branch ${branch} does not exist any more (a fetch that prunes may have removed it). Work landed on it as ${found.value}. Run "git branch ${branch} ${found.value}" to restore it, or name another branch with --target.`,
  );
}

/** All of Drover's branches are below `drover/`. */
export async function refuseBranchInTheWay({ git }: Uses<'git'>): Promise<void> {
  if ((await git.readRef(branchRef('drover'))) === null) return;
  throw new Refusal(
    'branch_in_the_way',
    'The branch drover conflicts with the branches drover/… that Drover creates. Rename it with "git branch -m drover <new name>" and run again.',
  );
}
