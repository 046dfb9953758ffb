// Claims pending workflows up to the limits of their queues, in one transaction.

import type { QueueLimits } from '../port.ts';
import type { Claimable } from '../workflow-rows.ts';
import * as statements from './statements.ts';
import type { ClaimedRow, Db } from './statements.ts';

export interface ClaimWorkRequest extends Claimable {
  readonly limits: ReadonlyMap<string, QueueLimits>;
  /** How many workflows already run in this process. */
  readonly runningByQueue: ReadonlyMap<string, number>;
  readonly owner: string;
  readonly leaseExpiresAt: number;
  readonly now: number;
}

export interface ClaimedWork {
  readonly row: ClaimedRow;
  /** All results that earlier runs of the workflow stored. */
  readonly memos: Map<string, string | null>;
}

/** Maximum number of workflows per queue claimed in one transaction, so that it stays short. */
const claimBatch = 64;

/** `more`: a queue had at least a full batch, so claim again. */
export async function claimWork(
  db: Db,
  request: ClaimWorkRequest,
): Promise<{ readonly claimed: readonly ClaimedWork[]; readonly more: boolean }> {
  const open: { readonly queue: string; readonly room: number }[] = [];
  for (const queue of await statements.queuesWithPending(db)) {
    const room = roomHere(request, queue);
    // Checked again below. Checking here saves a transaction for a full queue, which a line's queue
    // is during each landing. The end of a workflow triggers another claim.
    if (room > 0 && (await roomEverywhere(db, request, queue)) > 0) open.push({ queue, room });
  }
  if (open.length === 0) return { claimed: [], more: false };
  return db.transaction().execute(async (tx) => {
    const rows: ClaimedRow[] = [];
    let more = false;
    for (const { queue, room } of open) {
      const limit = Math.min(room, await roomEverywhere(tx, request, queue), claimBatch);
      if (limit <= 0) continue;
      const claimed = await statements.claim(tx, { ...request, queue, limit });
      rows.push(...claimed);
      more ||= claimed.length === claimBatch;
    }
    return { claimed: await withMemos(tx, rows), more };
  });
}

function roomHere(request: ClaimWorkRequest, queue: string): number {
  const perProcess = request.limits.get(queue)?.perProcess;
  if (perProcess === undefined) return Infinity;
  return perProcess - (request.runningByQueue.get(queue) ?? 0);
}

async function roomEverywhere(db: Db, request: ClaimWorkRequest, queue: string): Promise<number> {
  const concurrency = request.limits.get(queue)?.concurrency;
  if (concurrency === undefined) return Infinity;
  return concurrency - (await statements.countRunning(db, queue));
}

async function withMemos(db: Db, rows: readonly ClaimedRow[]): Promise<readonly ClaimedWork[]> {
  const work = new Map(
    rows.map((row) => [row.id, { row, memos: new Map<string, string | null>() }]),
  );
  // A first claim has no stored results.
  const again = rows.filter((row) => row.epoch > 1).map((row) => row.id);
  if (again.length > 0) {
    for (const step of await statements.readSteps(db, again)) {
      work.get(step.workflow_id)?.memos.set(step.name, step.output);
    }
  }
  return [...work.values()];
}
