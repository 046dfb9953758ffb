// A line that is gone although work has landed on it: the last landed commit restores it.

import { Refusal } from '../../core/failure.ts';
import type { Sha } from '../../git/sha.ts';
import { type LineRow, readLine } from '../../store/port.ts';
import { whyLost } from '../lines/line-holds.ts';
import type { Uses } from '../kit/engine-ports.ts';

/** A new first commit, or a new branch, would leave the landed work behind. */
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

/** An epic that continued from the target would lose what has landed on its own line only. */
export async function refuseLostLine(
  { git }: Uses<'git'>,
  known: LineRow,
  base: Sha,
): Promise<void> {
  const found = await git.resolve(known.landed_sha);
  if (!found.ok || (await git.isAncestor(found.value, base))) return;
  throw new Refusal('line_held', whyLost(known.branch, known));
}
