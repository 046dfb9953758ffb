// Handles tasks that wait for open issues which are in no plan here.

import { readBlockCause, storedCause } from '../../core/plan/block-cause.ts';
import { waitWords } from '../../core/forge/intake.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import type { TaskRow, Tx } from '../schema/tables.ts';
import { transition } from '../status/transition.ts';

const by = { by: 'issues' };
const cause = storedCause({ kind: 'issue' });

/** Holds these tasks, and releases all others that an issue held. */
export async function holdForIssues(
  tx: Tx,
  sources: StoreSources,
  waits: ReadonlyMap<string, readonly string[]>,
): Promise<void> {
  const rows = await tx
    .selectFrom('tasks')
    .selectAll()
    .where('status', 'in', ['ready', 'blocked'])
    .execute();
  for (const row of rows) {
    const names = waits.get(row.id);
    if (names !== undefined) await hold(tx, sources, row, waitWords(names));
    else if (isHeld(row)) await release(tx, sources, row.id);
  }
}

function isHeld(row: TaskRow): boolean {
  return row.blocked_reason !== null && readBlockCause(row.blocked_by)?.kind === 'issue';
}

async function hold(tx: Tx, sources: StoreSources, row: TaskRow, reason: string): Promise<void> {
  const set = { blocked_reason: reason, blocked_by: cause };
  const data = { ...by, reason };
  if (row.status === 'ready') {
    const change = { taskId: row.id, to: 'blocked', event: 'task.blocked', data, set } as const;
    await transition(tx, sources, change);
    return;
  }
  // Another cause holds it, or it is already held with this sentence.
  if (row.blocked_reason === reason || (row.blocked_reason !== null && !isHeld(row))) return;
  await tx.updateTable('tasks').set(set).where('id', '=', row.id).execute();
  const event = { taskId: row.id, epicId: row.epic_id, data: { ...data, title: row.title } };
  await appendEvent(tx, sources, { type: 'task.edited', ...event });
}

async function release(tx: Tx, sources: StoreSources, taskId: string): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ blocked_reason: null, blocked_by: null })
    .where('id', '=', taskId)
    .execute();
  // It stays blocked if it still has blockers.
  const change = { taskId, to: 'ready', event: 'task.unblocked', data: by } as const;
  await transition(tx, sources, change);
}
