// Pull requests of epics, the facts read about them, and the reactions to each fact.

import type { Selectable } from 'kysely';
import { type ForgeMerge, isUndo } from '../../core/forge/pull-plan.ts';
import type {
  ForgeFactTable,
  ForgeItemState,
  ForgeItemTable,
  ForgeKey,
  ForgeReactionTable,
} from '../schema/forge-rows.ts';
import type { Reads, Tx } from '../schema/tables.ts';

export type PullRow = Selectable<ForgeItemTable>;
export type FactRow = Selectable<ForgeFactTable>;
export type ReactionRow = Selectable<ForgeReactionTable>;

export async function openPulls(db: Reads): Promise<readonly PullRow[]> {
  return db
    .selectFrom('forge_items')
    .selectAll()
    .where('state', '=', 'open')
    .orderBy('created_at_ms')
    .execute();
}

/** The epic's latest pull request in any state; null if it never had one. */
export async function pullOfEpic(db: Reads, epicId: string): Promise<PullRow | null> {
  const row = await db
    .selectFrom('forge_items')
    .selectAll()
    .where('epic_id', '=', epicId)
    .orderBy('created_at_ms', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ?? null;
}

/** The latest pull request from this branch in any state; null if it never had one. */
export async function pullOfBranch(
  db: Reads,
  epicId: string,
  branch: string,
): Promise<PullRow | null> {
  const pulls = await pullsOfEpic(db, epicId);
  return pulls.find((pull) => pull.branch === branch) ?? null;
}

/** Newest first. */
export async function pullsOfEpic(db: Reads, epicId: string): Promise<readonly PullRow[]> {
  return db
    .selectFrom('forge_items')
    .selectAll()
    .where('epic_id', '=', epicId)
    .orderBy('created_at_ms', 'desc')
    .execute();
}

export interface EpicOnForge {
  /** Merged pull requests that have not been reverted, newest first. */
  readonly merged: readonly ForgeMerge[];
  readonly base: string;
  readonly runId: string;
  /** The open pull request that reverts them. */
  readonly undo: number | null;
  /** Number of reverts ever opened. */
  readonly undoCount: number;
}

/** Returns null if none of the epic's work is on the forge's base. */
export async function epicOnForge(db: Reads, epicId: string): Promise<EpicOnForge | null> {
  const pulls = await pullsOfEpic(db, epicId);
  const undone = pulls.findIndex((pull) => isUndo(pull) && pull.state === 'merged');
  const since = undone === -1 ? pulls : pulls.slice(0, undone);
  const merged: ForgeMerge[] = [];
  for (const pull of since) {
    if (pull.state !== 'merged') continue;
    const commit = await mergeCommitOf(db, pull);
    if (commit !== null) merged.push({ number: pull.number, commit, head: pull.head_sha });
  }
  const [newest] = since.filter(({ state }) => state === 'merged');
  if (newest === undefined || merged.length === 0) return null;
  const open = pulls.find((pull) => isUndo(pull) && pull.state === 'open');
  return {
    merged,
    base: newest.base,
    runId: newest.run_id,
    undo: open?.number ?? null,
    undoCount: pulls.filter(isUndo).length,
  };
}

async function mergeCommitOf(db: Reads, key: ForgeKey): Promise<string | null> {
  const core = await pullFact<{ readonly mergeCommit?: string | null }>(db, key, 'core');
  return core?.mergeCommit ?? null;
}

/** Returns the last value of a fact, or null if it was never read. */
export async function pullFact<T>(db: Reads, key: ForgeKey, name: string): Promise<T | null> {
  const value = (await factRow(db, key, name))?.value ?? null;
  return value === null ? null : (JSON.parse(value) as T);
}

function factRow(
  db: Reads,
  { provider, host, native_id: id }: ForgeKey,
  fact: string,
): Promise<Pick<FactRow, 'value' | 'unread'> | undefined> {
  return db
    .selectFrom('forge_facts')
    .select(['value', 'unread'])
    .where('provider', '=', provider)
    .where('host', '=', host)
    .where('native_id', '=', id)
    .where('fact', '=', fact)
    .executeTakeFirst();
}

/**
 * Epics with unfinished tasks that depend on an epic merged by the forge, and when its merge was
 * observed.
 */
export async function epicsAfterMerges(
  db: Reads,
): Promise<readonly { readonly epicId: string; readonly mergedAtMs: number }[]> {
  const rows = await db
    .selectFrom('forge_items as i')
    .innerJoin('forge_facts as f', (join) =>
      join
        .onRef('f.provider', '=', 'i.provider')
        .onRef('f.host', '=', 'i.host')
        .onRef('f.native_id', '=', 'i.native_id')
        .on('f.fact', '=', 'core'),
    )
    .innerJoin('epics as e', 'e.id', 'i.epic_id')
    .innerJoin('tasks as b', 'b.epic_id', 'i.epic_id')
    .innerJoin('task_dependencies as d', 'd.blocked_by', 'b.id')
    .innerJoin('tasks as t', 't.id', 'd.task_id')
    .select(['t.epic_id', 'f.read_at_ms'])
    .where('i.state', '=', 'merged')
    .where('e.landing_state', '=', 'landed')
    .where('t.epic_id', 'is not', null)
    .whereRef('t.epic_id', '!=', 'b.epic_id')
    .where('t.status', 'not in', ['completed', 'failed', 'cancelled'])
    .execute();
  const newest = new Map<string, number>();
  for (const { epic_id: epicId, read_at_ms: atMs } of rows)
    if (epicId !== null) newest.set(epicId, Math.max(newest.get(epicId) ?? 0, atMs ?? 0));
  return [...newest].map(([epicId, mergedAtMs]) => ({ epicId, mergedAtMs }));
}

/** Stores a pull request or its newer state. */
export async function storePull(tx: Tx, row: PullRow): Promise<void> {
  const { provider: _provider, host: _host, native_id: _id, created_at_ms: _made, ...rest } = row;
  await tx
    .insertInto('forge_items')
    .values(row)
    .onConflict((conflict) => conflict.columns(['provider', 'host', 'native_id']).doUpdateSet(rest))
    .execute();
}

export async function setPull(
  tx: Tx,
  key: ForgeKey,
  set: Partial<Pick<PullRow, 'slug' | 'number' | 'url' | 'head_sha' | 'base' | 'note'>> & {
    readonly state?: ForgeItemState;
  },
): Promise<void> {
  await tx
    .updateTable('forge_items')
    .set(set)
    .where('provider', '=', key.provider)
    .where('host', '=', key.host)
    .where('native_id', '=', key.native_id)
    .execute();
}

/**
 * A fact as reported by the forge, with the part that could not be read, or the reason why none of
 * it could be read.
 */
export type StoredRead =
  | { readonly value: string; readonly atMs: number; readonly missing: string | null }
  | { readonly unread: string };

/** Returns true if the stored fact already says the same. */
export async function isStored(
  db: Reads,
  key: ForgeKey,
  fact: string,
  read: StoredRead,
): Promise<boolean> {
  const row = await factRow(db, key, fact);
  if (row === undefined) return false;
  if (!('value' in read)) return row.unread === read.unread;
  return row.value === read.value && row.unread === read.missing;
}

/** A failed read keeps the last value, because "not read" never means "none". */
export async function storeFact(
  tx: Tx,
  { provider, host, native_id: id }: ForgeKey,
  fact: string,
  read: StoredRead,
): Promise<void> {
  const set =
    'value' in read
      ? { value: read.value, read_at_ms: read.atMs, unread: read.missing }
      : { unread: read.unread };
  await tx
    .insertInto('forge_facts')
    .values({ provider, host, native_id: id, fact, ...set })
    .onConflict((conflict) =>
      conflict.columns(['provider', 'host', 'native_id', 'fact']).doUpdateSet(set),
    )
    .execute();
}

export async function reactionsOfPull(db: Reads, key: ForgeKey): Promise<readonly ReactionRow[]> {
  return db
    .selectFrom('forge_reactions')
    .selectAll()
    .where('provider', '=', key.provider)
    .where('host', '=', key.host)
    .where('native_id', '=', key.native_id)
    .orderBy('at_ms')
    .execute();
}

/** Returns false if it was already added. */
export async function addReaction(tx: Tx, row: ReactionRow): Promise<boolean> {
  const added = await tx
    .insertInto('forge_reactions')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['provider', 'host', 'native_id', 'key']).doNothing(),
    )
    .returning('key')
    .executeTakeFirst();
  return added !== undefined;
}

export async function nameReactionTask(
  tx: Tx,
  { provider, host, native_id: id, key }: ForgeKey & { readonly key: string },
  taskId: string,
): Promise<void> {
  await tx
    .updateTable('forge_reactions')
    .set({ task_id: taskId })
    .where('provider', '=', provider)
    .where('host', '=', host)
    .where('native_id', '=', id)
    .where('key', '=', key)
    .execute();
}

/**
 * Records that a line's work arrived on the target in a commit that does not contain the line's own
 * commits, for example after a squash. That commit then counts as the landed work.
 */
export async function moveLandedWork(
  tx: Tx,
  line: string,
  to: { readonly branch: string; readonly sha: string },
): Promise<void> {
  await tx
    .updateTable('tasks')
    .set({ landed_on: to.branch, landed_sha: to.sha })
    .where('landed_on', '=', line)
    .where('status', '=', 'completed')
    .where('landed_sha', 'is not', null)
    .execute();
}

/** Stores the state of the epic's pull request as a sentence for people. */
export async function setEpicWaiting(
  tx: Tx,
  epicId: string,
  end: { readonly state: 'pull_request' | 'returned' | 'landed'; readonly note: string | null },
): Promise<void> {
  await tx
    .updateTable('epics')
    .set({ landing_state: end.state, landing_note: end.note })
    .where('id', '=', epicId)
    .execute();
}

/** The epic's tasks that are part of its pull request. */
export async function tasksInPull(
  db: Reads,
  epicId: string,
): Promise<
  readonly {
    readonly id: string;
    readonly title: string;
    readonly status: string;
    readonly acceptance_criteria: string;
    readonly landed_sha: string | null;
  }[]
> {
  return db
    .selectFrom('tasks')
    .select(['id', 'title', 'status', 'acceptance_criteria', 'landed_sha'])
    .where('epic_id', '=', epicId)
    .where('parent_id', 'is', null)
    .where('candidate_of', 'is', null)
    .where('status', '=', 'completed')
    .orderBy('position')
    .execute();
}
