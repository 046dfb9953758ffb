// Why nothing new starts now. The dispatcher writes the reasons when they change; `why` and
// `status` read them.

import { type BlockCause, readBlockCause, storedCause } from '../../core/plan/block-cause.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import type { HoldRow, Reads, Tx } from '../schema/tables.ts';

export interface Hold {
  /** `day`, `machine`, `worktrees`, `epic/<id>` or `agent/<kind>`. */
  readonly scope: string;
  readonly reason: string;
  readonly untilMs: number | null;
}

export async function readHolds(db: Reads): Promise<HoldRow[]> {
  return db.selectFrom('holds').selectAll().orderBy('scope').execute();
}

/** Scopes in which nothing starts at all. */
export async function heldScopes(db: Reads): Promise<ReadonlySet<string>> {
  return new Set((await readHolds(db)).map((row) => row.scope));
}

/** Replaces all holds. The feed reports those that start and those that end. */
export async function setHolds(
  tx: Tx,
  sources: StoreSources,
  holds: readonly Hold[],
): Promise<void> {
  const before = new Map((await readHolds(tx)).map((row) => [row.scope, row]));
  for (const { scope, reason, untilMs } of holds) {
    const known = before.get(scope);
    before.delete(scope);
    if (known !== undefined && known.reason === reason && known.until_ms === untilMs) continue;
    const values = { scope, reason, since_ms: sources.clock.now(), until_ms: untilMs };
    await tx
      .insertInto('holds')
      .values(values)
      .onConflict((conflict) => conflict.column('scope').doUpdateSet({ reason, until_ms: untilMs }))
      .execute();
    if (known !== undefined) continue;
    await appendEvent(tx, sources, { type: 'run.held', data: { scope, reason } });
  }
  for (const { scope } of before.values()) {
    await tx.deleteFrom('holds').where('scope', '=', scope).execute();
    await appendEvent(tx, sources, { type: 'run.released', data: { scope } });
  }
}

/** Epics with tasks that may start at some time. */
export async function epicsToStart(db: Reads): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('tasks')
    .select('epic_id')
    .distinct()
    .where('epic_id', 'is not', null)
    .where('status', 'in', ['ready', 'waiting', 'blocked'])
    .execute();
  return rows.flatMap((row) => (row.epic_id === null ? [] : [row.epic_id]));
}

/** Tasks that are blocked by a cause of this kind. */
export async function tasksHeldBy<K extends BlockCause['kind']>(
  db: Reads,
  kind: K,
): Promise<readonly { readonly id: string; readonly cause: Extract<BlockCause, { kind: K }> }[]> {
  const rows = await db
    .selectFrom('tasks')
    .select(['id', 'blocked_by'])
    .where('status', '=', 'blocked')
    .where('blocked_reason', 'is not', null)
    .execute();
  return rows.flatMap(({ id, blocked_by: stored }) => {
    const cause = readBlockCause(stored);
    return cause?.kind === kind ? [{ id, cause: cause as Extract<BlockCause, { kind: K }> }] : [];
  });
}

/** Updates the cause of a task that stays blocked. */
export async function setBlockCause(tx: Tx, taskId: string, cause: BlockCause): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ blocked_by: storedCause(cause) })
    .where('id', '=', taskId)
    .where('status', '=', 'blocked')
    .execute();
}
