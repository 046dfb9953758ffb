// Applies another tool's changes to tasks that are already in the plan: closed, deleted, deferred,
// held or reopened.

import { beadsHold } from '../../core/exchange/beads-holds.ts';
import type { ImportedState } from '../../core/exchange/import-session.ts';
import { readBlockCause, storedCause } from '../../core/plan/block-cause.ts';
import type { TaskStatus } from '../../core/plan/state.ts';
import { lastAttempt } from '../work/claims.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import type { TaskRow, Tx } from '../schema/tables.ts';
import { transition } from '../status/transition.ts';

export interface TakeOver {
  readonly states: ReadonlyMap<string, ImportedState>;
  /** Ids of records that the other tool deleted. */
  readonly deleted: ReadonlySet<string>;
  /**
   * The issues that the other tool has changed since the last import. Null to apply the whole file.
   */
  readonly changed: ReadonlySet<string> | null;
  /** The issues whose state in the file has changed. */
  readonly moved: ReadonlySet<string>;
}

export interface TakenOver {
  readonly changed: readonly string[];
  /** Ids of issues that were closed or deleted elsewhere while an agent runs. */
  readonly running: readonly string[];
  /** Ids of `running` issues that are no longer needed: deleted, or closed as given up. */
  readonly unwanted: readonly string[];
  /**
   * Ids of issues that were deferred elsewhere while an agent runs. Their tasks are paused after
   * the attempt.
   */
  readonly later: readonly string[];
}

const idle: ReadonlySet<TaskStatus> = new Set(['ready', 'blocked', 'paused', 'conflict', 'failed']);
const running: ReadonlySet<TaskStatus> = new Set(['claimed', 'in_progress', 'waiting']);
const by = { by: 'import' };
const ofBeads = storedCause({ kind: 'beads' });

function isOfBeads(row: TaskRow): boolean {
  return readBlockCause(row.blocked_by)?.kind === 'beads';
}

/** `isDry`: only report the changes. */
export async function takeOverStates(
  tx: Tx,
  sources: StoreSources,
  { states, deleted, changed: news, moved }: TakeOver,
  isDry: boolean,
): Promise<TakenOver> {
  const changed: string[] = [];
  const stillRunning: string[] = [];
  const unwanted: string[] = [];
  const later: string[] = [];
  const rows = await tx
    .selectFrom('tasks')
    .selectAll()
    .where('candidate_of', 'is', null)
    .orderBy('position')
    .execute();
  for (const row of rows) {
    const state = states.get(row.id);
    const wanted = deleted.has(row.id) ? 'deleted' : wantedOf(row, state, moved.has(row.id));
    if (wanted === null) continue;
    // Holds follow from the whole file and the clock. Everything else counts only if it changed.
    if (news !== null && wanted !== 'held' && !isRelease(row, wanted) && !news.has(row.id))
      continue;
    if (wanted === 'completed' && (await wasClosedByAgent(tx, row, states.get(row.id)))) continue;
    const isEnd = wanted === 'deleted' || wanted === 'completed' || wanted === 'cancelled';
    if (wanted === 'paused' && running.has(row.status)) later.push(row.id);
    else if (isEnd && running.has(row.status)) {
      stillRunning.push(row.id);
      if (wanted !== 'completed') unwanted.push(row.id);
    } else if (await apply(tx, sources, row, wanted, { state: states.get(row.id), isDry }))
      changed.push(row.id);
  }
  return { changed, running: stillRunning, unwanted, later };
}

function isRelease(row: TaskRow, wanted: Wanted): boolean {
  return wanted === 'open' && row.status === 'blocked';
}

/**
 * Agents close their issue before the gate has tested the work. If an issue was closed during an
 * attempt, the landing decides.
 */
async function wasClosedByAgent(
  tx: Tx,
  row: TaskRow,
  state: ImportedState | undefined,
): Promise<boolean> {
  const at = state?.closedAtMs ?? null;
  if (at === null || running.has(row.status)) return false;
  const last = await lastAttempt(tx, row.id);
  return (
    last !== null &&
    at >= last.started_at_ms - 1_000 &&
    at <= (last.ended_at_ms ?? Infinity) + 1_000
  );
}

type Wanted = 'completed' | 'cancelled' | 'deleted' | 'paused' | 'held' | 'open';

/**
 * Returns null if the file matches our state, or if ours is newer. `hasMoved`: the file's state has
 * changed.
 */
function wantedOf(
  row: TaskRow,
  state: ImportedState | undefined,
  hasMoved: boolean,
): Wanted | null {
  if (state === undefined) return null;
  const isHeld = row.status === 'blocked' && isOfBeads(row);
  switch (state.status) {
    case 'completed':
    case 'cancelled':
      return row.status === state.status ? null : state.status;
    case 'paused':
      if (['ready', 'blocked', ...running].includes(row.status)) return 'paused';
      return row.status !== 'paused' && wasEndedElsewhere(row, hasMoved) ? 'paused' : null;
    case 'blocked':
      if (state.heldBy !== 'beads') return null;
      if (row.status === 'ready') return 'held';
      return isHeld || row.status !== 'blocked' || row.blocked_reason !== null ? null : 'held';
    case 'ready':
      return isHeld || wasEndedElsewhere(row, hasMoved) ? 'open' : null;
    default:
      return null;
  }
}

/**
 * Whether the other tool ended the task, as a note records, and may now reopen it. Landed work is
 * never reopened.
 */
function wasEndedElsewhere(row: TaskRow, hasMoved: boolean): boolean {
  const isOver =
    row.status === 'completed' || row.status === 'cancelled' || row.status === 'paused';
  return isOver && row.landed_sha === null && (isOfBeads(row) || hasMoved);
}

async function apply(
  tx: Tx,
  sources: StoreSources,
  row: TaskRow,
  wanted: Wanted,
  { state, isDry }: { readonly state: ImportedState | undefined; readonly isDry: boolean },
): Promise<boolean> {
  const taskId = row.id;
  const note = (words: string) => ({ last_error: `${beadsHold}${words}`, blocked_by: ofBeads });
  const said = state?.verdictReason ?? null;
  switch (wanted) {
    case 'deleted':
    case 'cancelled': {
      if (!idle.has(row.status) && row.status !== 'needs_review') return false;
      if (isDry) return true;
      const reason = wanted === 'deleted' ? 'deleted' : `closed${said === null ? '' : `: ${said}`}`;
      const data = { ...by, reason: `${beadsHold}${reason}` };
      const set = note(reason);
      return (
        await transition(tx, sources, {
          taskId,
          to: 'cancelled',
          event: 'task.cancelled',
          data,
          set,
        })
      ).ok;
    }
    case 'completed':
      return isDry ? idle.has(row.status) : complete(tx, sources, row, said);
    case 'paused': {
      if (isDry) return true;
      // A closed task is reopened before it is deferred.
      if (row.status === 'completed' || row.status === 'cancelled')
        await transition(tx, sources, { taskId, to: 'ready', event: 'task.unblocked', data: by });
      const set = note('deferred');
      return (
        await transition(tx, sources, { taskId, to: 'paused', event: 'task.paused', data: by, set })
      ).ok;
    }
    case 'held':
      return isDry || hold(tx, sources, row, state?.blockedReason ?? beadsHold);
    case 'open': {
      if (isDry) return true;
      if (row.status === 'blocked') {
        await tx
          .updateTable('tasks')
          .set({ blocked_reason: null, blocked_by: null })
          .where('id', '=', taskId)
          .execute();
      }
      const set = row.status === 'blocked' ? {} : { last_error: null };
      const data = { ...by };
      const opened = await transition(tx, sources, {
        taskId,
        to: 'ready',
        event: 'task.unblocked',
        data,
        set,
      });
      // Its blockers still hold it.
      return opened.ok || row.status === 'blocked';
    }
  }
}

async function hold(tx: Tx, sources: StoreSources, row: TaskRow, reason: string): Promise<boolean> {
  const set = { blocked_reason: reason, blocked_by: ofBeads };
  if (row.status === 'ready') {
    const change = {
      taskId: row.id,
      to: 'blocked',
      event: 'task.blocked',
      data: { ...by, reason },
      set,
    } as const;
    return (await transition(tx, sources, change)).ok;
  }
  await tx.updateTable('tasks').set(set).where('id', '=', row.id).execute();
  const data = { ...by, reason, title: row.title };
  await appendEvent(tx, sources, {
    type: 'task.edited',
    taskId: row.id,
    epicId: row.epic_id,
    data,
  });
  return true;
}

/** A task that waits for others cannot be completed, so it is canceled to keep it from starting. */
async function complete(
  tx: Tx,
  sources: StoreSources,
  row: TaskRow,
  said: string | null,
): Promise<boolean> {
  const taskId = row.id;
  const words = `${beadsHold}closed${said === null ? '' : `: ${said}`}`;
  if (row.status !== 'ready') {
    await tx
      .updateTable('tasks')
      .set({ blocked_reason: null, blocked_by: null })
      .where('id', '=', taskId)
      .execute();
    const opened = await transition(tx, sources, {
      taskId,
      to: 'ready',
      event: 'task.unblocked',
      data: by,
    });
    if (!opened.ok || opened.to !== 'ready') {
      const change = {
        taskId,
        to: 'cancelled',
        event: 'task.cancelled',
        data: { ...by, reason: words },
      } as const;
      return (
        await transition(tx, sources, {
          ...change,
          set: { last_error: words, blocked_by: ofBeads },
        })
      ).ok;
    }
  }
  for (const to of ['claimed', 'in_progress'] as const) {
    const event = to === 'claimed' ? 'task.claimed' : 'task.started';
    await transition(tx, sources, { taskId, to, event, data: by });
  }
  const noted = { last_error: words, blocked_by: ofBeads };
  const set = { verdict: 'pass' as const, verdict_reason: said, ...noted };
  const data = { ...by, reason: words };
  return (
    await transition(tx, sources, { taskId, to: 'completed', event: 'task.completed', data, set })
  ).ok;
}
