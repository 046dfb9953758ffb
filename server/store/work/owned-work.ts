// The facts that a task's owner writes into its row while the attempt runs: its worktree, commits
// and cost. Statuses are changed only by transitions.

import type { Phase } from '../../core/plan/task.ts';
import { textList } from '../rows/one-moment.ts';
import type { Reads, Tx } from '../schema/tables.ts';

export interface Owner {
  readonly taskId: string;
  readonly epoch: number;
}

/** Records that a task in progress entered another phase, without a separate event. */
export async function movePhase(
  tx: Tx,
  { taskId, epoch }: Owner,
  phase: Extract<Phase, 'agent' | 'commit'>,
): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ phase })
    .where('id', '=', taskId)
    .where('epoch', '=', epoch)
    .where('status', '=', 'in_progress')
    .execute();
}

/** Records that the worktree is ready and the agent may start. */
export async function notePlace(
  tx: Tx,
  { taskId, epoch }: Owner,
  place: { readonly base: string; readonly path: string },
): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ phase: 'agent', base_sha: place.base, worktree_path: place.path })
    .where('id', '=', taskId)
    .where('epoch', '=', epoch)
    .execute();
}

/** Records that the work is committed and judged, and that its gate is next. */
export async function handOverWork(
  tx: Tx,
  { taskId, epoch }: Owner,
  work: { readonly commit: string; readonly verdictReason: string },
): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ commit_sha: work.commit, phase: 'gate', verdict_reason: work.verdictReason })
    .where('id', '=', taskId)
    .where('epoch', '=', epoch)
    .execute();
}

/** Records that a sub-task's work is committed. The attempt continues with the next part. */
export async function noteSubTaskCommit(tx: Tx, id: string, commit: string): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ commit_sha: commit, phase: 'committed' })
    .where('id', '=', id)
    .execute();
}

/** Returns the sub-tasks of these tasks whose work is committed. */
export async function committedSubTasks(
  db: Reads,
  ids: readonly string[],
): Promise<readonly { readonly id: string; readonly commit: string }[]> {
  const rows = await db
    .selectFrom('tasks')
    .select(['id', 'commit_sha'])
    .where('id', 'in', [...ids])
    .where('parent_id', 'is not', null)
    .where('commit_sha', 'is not', null)
    .execute();
  return rows.map((row) => ({ id: row.id, commit: row.commit_sha ?? '' }));
}

/** The commit last recorded for each kept ref of a task. */
export async function keptCommits(db: Reads, taskId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('events')
    .select('data')
    .where('task_id', '=', taskId)
    .where('type', '=', 'work.kept')
    .orderBy('seq')
    .execute();
  const commits = new Map<string, string>();
  for (const { data } of rows) {
    const { ref, commit } = JSON.parse(data) as { readonly ref?: string; readonly commit?: string };
    if (ref !== undefined && commit !== undefined) commits.set(ref, commit);
  }
  return commits;
}

/** Lists a snapshot in its task. Returns false if the task does not exist. */
export async function addKeptRef(tx: Tx, taskId: string, ref: string): Promise<boolean> {
  const row = await tx
    .selectFrom('tasks')
    .select('rescue_refs')
    .where('id', '=', taskId)
    .executeTakeFirst();
  if (row === undefined) return false;
  const known = textList(row.rescue_refs);
  if (known.includes(ref)) return true;
  await tx
    .updateTable('tasks')
    .set({ rescue_refs: JSON.stringify([...known, ref]) })
    .where('id', '=', taskId)
    .execute();
  return true;
}

interface PartUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number | null;
}

/**
 * Stores usage. It is the running total of the part's own log, so it replaces the part's previous
 * value. The sums of the attempt and of its task are computed again.
 */
export async function recordUsage(
  tx: Tx,
  attempt: { readonly taskId: string; readonly attempt: number },
  part: string,
  usage: PartUsage,
): Promise<void> {
  const { taskId, attempt: number } = attempt;
  const row = await tx
    .selectFrom('attempts')
    .select('usage_by_part')
    .where('task_id', '=', taskId)
    .where('number', '=', number)
    .executeTakeFirstOrThrow();
  const byPart = { ...(JSON.parse(row.usage_by_part) as Record<string, PartUsage>), [part]: usage };
  const all = Object.values(byPart);
  await tx
    .updateTable('attempts')
    .set({
      usage_by_part: JSON.stringify(byPart),
      input_tokens: all.reduce((sum, one) => sum + one.inputTokens, 0),
      output_tokens: all.reduce((sum, one) => sum + one.outputTokens, 0),
      cost_usd: all.reduce((sum, one) => sum + (one.costUsd ?? 0), 0),
    })
    .where('task_id', '=', taskId)
    .where('number', '=', number)
    .execute();
  const total = await tx
    .selectFrom('attempts')
    .select((eb) => eb.fn.sum<number>('cost_usd').as('usd'))
    .where('task_id', '=', taskId)
    .executeTakeFirstOrThrow();
  await tx
    .updateTable('tasks')
    .set({ cost_usd: total.usd ?? 0 })
    .where('id', '=', taskId)
    .execute();
}
