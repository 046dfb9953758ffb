// The landing queue's rows: work that waits to be merged into each line, and its outcome.

import type { StoreSources } from '../feed/feed.ts';
import type { LandingRow, Reads, Tx } from '../schema/tables.ts';

export interface NewLanding {
  readonly taskId: string;
  readonly epoch: number;
  readonly attempt: number;
  readonly line: string;
  readonly commitSha: string;
  readonly gateCommand: string | null;
  /** The workflow that is started for it. Another workflow may take it first. */
  readonly workflowId: string;
}

/**
 * Queues the work once. Work that came back from an earlier landing and was approved again is
 * queued again.
 */
export async function queueLanding(
  tx: Tx,
  sources: StoreSources,
  landing: NewLanding,
): Promise<void> {
  const queued = {
    attempt: landing.attempt,
    line: landing.line,
    commit_sha: landing.commitSha,
    gate_command: landing.gateCommand,
    state: 'queued' as const,
    workflow_id: landing.workflowId,
    queued_at_ms: sources.clock.now(),
  };
  await tx
    .insertInto('landings')
    .values({ task_id: landing.taskId, epoch: landing.epoch, ...queued })
    .onConflict((conflict) =>
      conflict
        .columns(['task_id', 'epoch'])
        .doUpdateSet(queued)
        .where('landings.state', 'in', ['returned', 'withdrawn']),
    )
    .execute();
}

/**
 * Assigns all work that waits for the line (at most `limit`) to one workflow, in order of arrival.
 */
export async function takeLandings(
  tx: Tx,
  line: string,
  workflowId: string,
  limit: number,
): Promise<LandingRow[]> {
  return take(tx, await queuedLandings(tx, line).limit(limit).execute(), workflowId);
}

/**
 * Assigns more waiting landings (at most `limit`) to a workflow that is gating earlier ones. Stops
 * before a landing without a gate, which lands first in its own workflow.
 */
export async function takeMoreLandings(
  tx: Tx,
  line: string,
  workflowId: string,
  limit: number,
): Promise<LandingRow[]> {
  const rows = await queuedLandings(tx, line).limit(limit).execute();
  const ungated = rows.findIndex((row) => row.gate_command === null);
  return take(tx, ungated === -1 ? rows : rows.slice(0, ungated), workflowId);
}

/** Whether `takeMoreLandings` would find work. */
export async function hasMoreLandings(db: Reads, line: string): Promise<boolean> {
  const row = await queuedLandings(db, line).limit(1).executeTakeFirst();
  return row !== undefined && row.gate_command !== null;
}

function queuedLandings(db: Reads, line: string) {
  return db
    .selectFrom('landings')
    .selectAll()
    .where('line', '=', line)
    .where('state', '=', 'queued')
    .orderBy('position');
}

async function take(tx: Tx, rows: LandingRow[], workflowId: string): Promise<LandingRow[]> {
  if (rows.length === 0) return rows;
  const positions = rows.map((row) => row.position);
  await tx
    .updateTable('landings')
    .set({ state: 'taken', workflow_id: workflowId })
    .where('position', 'in', positions)
    .execute();
  return rows;
}

/** Resolves with the commit that was to land; null if there is none. */
export async function endLanding(
  tx: Tx,
  landing: { readonly taskId: string; readonly epoch: number },
  state: 'landed' | 'returned' | 'withdrawn',
): Promise<string | null> {
  const row = await tx
    .updateTable('landings')
    .set({ state })
    .where('task_id', '=', landing.taskId)
    .where('epoch', '=', landing.epoch)
    .returning('commit_sha')
    .executeTakeFirst();
  return row?.commit_sha ?? null;
}

/** Number of waiting and running landings on all lines. */
export async function openLandings(db: Reads): Promise<number> {
  const row = await db
    .selectFrom('landings')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('state', 'in', ['queued', 'taken'])
    .executeTakeFirstOrThrow();
  return row.n;
}

export async function readLanding(
  db: Reads,
  owner: { readonly taskId: string; readonly epoch: number },
): Promise<LandingRow | null> {
  const row = await db
    .selectFrom('landings')
    .selectAll()
    .where('task_id', '=', owner.taskId)
    .where('epoch', '=', owner.epoch)
    .executeTakeFirst();
  return row ?? null;
}

/** Deletes an attempt's landing as if it had never been queued, so that it can be queued again. */
export async function forgetLanding(
  tx: Tx,
  landing: { readonly taskId: string; readonly epoch: number },
): Promise<void> {
  await tx
    .deleteFrom('landings')
    .where('task_id', '=', landing.taskId)
    .where('epoch', '=', landing.epoch)
    .execute();
}

/**
 * Records that users rebased or amended, so that a task's landed work is on the line under a commit
 * other than `was`.
 */
export async function recordNewLandedCommit(
  tx: Tx,
  taskId: string,
  landed: { readonly was: string; readonly sha: string; readonly branch: string },
): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ landed_sha: landed.sha, landed_on: landed.branch })
    .where('id', '=', taskId)
    .where('landed_sha', '=', landed.was)
    .execute();
}
