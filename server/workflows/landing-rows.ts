// Two questions about a row of the landing queue: does it still count, and has git landed it already?

import type { Sha } from '../git/port.ts';
import type { LandingRow } from '../store/port.ts';
import type { Engine } from './parts.ts';

/**
 * Git is the second witness of what has landed: it knows when the last rows that said so were lost with the power.
 * The tree of `head` when it holds the work already, else null. Only attempts that began before this process are looked
 * at: what this process has begun, it knows.
 */
export async function landedBefore(
  engine: Engine,
  row: LandingRow,
  head: Sha,
): Promise<Sha | null> {
  const attempt = await engine.store.db
    .selectFrom('attempts')
    .select('started_at_ms')
    .where('task_id', '=', row.task_id)
    .where('number', '=', row.attempt)
    .executeTakeFirst();
  if (attempt === undefined || attempt.started_at_ms >= engine.launchedAtMs) return null;
  if (!(await engine.git.isAncestor(row.commit_sha, head))) return null;
  const tree = await engine.git.treeOf(head);
  return tree.ok ? tree.value : null;
}

/** True while the row speaks for the task's present attempt, and the task waits for it. */
export function isLanding(
  task: { readonly epoch: number; readonly status: string } | undefined,
  row: LandingRow,
): boolean {
  return (
    task !== undefined &&
    task.epoch === row.epoch &&
    ['in_progress', 'needs_review'].includes(task.status)
  );
}
