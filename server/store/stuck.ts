// Tasks that cannot move by themselves: something they wait for has ended badly or waits for a person.

import type { StuckView } from '../protocol/api.ts';
import { type Board, nothing, topOf, withAncestors } from './board.ts';
import type { TaskRow } from './tables.ts';

/** What holds the others, as the end of a sentence that begins with its id; null for what still moves by itself. */
export function holdsOthers(row: TaskRow): string | null {
  switch (row.status) {
    case 'failed':
      return `has failed${quoted(row.last_error)}; use "drover retry ${row.id}"`;
    case 'cancelled':
      return `is cancelled; use "drover retry ${row.id}" or remove it as a blocker`;
    case 'conflict':
      return `is in conflict with what has landed; use "drover retry ${row.id}" or resolve it`;
    case 'needs_review':
      return `waits for a review; use "drover approve ${row.id}" or "drover send-back ${row.id}"`;
    case 'paused':
      return `is paused; use "drover unpause ${row.id}"`;
    case 'blocked':
      return row.blocked_reason === null
        ? null
        : `is blocked from outside${quoted(row.blocked_reason)}; use "drover resolve ${row.id}"`;
    case 'ready':
    case 'claimed':
    case 'in_progress':
    case 'waiting':
    case 'completed':
      return null;
  }
}

const quotedMax = 160;

function quoted(text: string | null): string {
  if (text === null || text === '') return '';
  const line = text.replace(/\s+/gu, ' ').trim();
  return ` (${line.length > quotedMax ? `${line.slice(0, quotedMax)}…` : line})`;
}

/** For each stuck task the task at the root of it, which may be itself (blocked from outside); null = a loop. */
export function stuckCauses(board: Board): Map<string, string | null> {
  const causes = new Map<string, string | null>();
  const dependents = new Map<string, string[]>();
  for (const [id, blockers] of board.waitsFor) {
    if (board.byId.get(id)?.status !== 'blocked') continue;
    for (const blocker of blockers) {
      // A blocker moves with the task that it is scheduled with, so each of its parents holds it too.
      for (const held of withAncestors(board.byId, blocker)) {
        const list = dependents.get(held);
        if (list === undefined) dependents.set(held, [id]);
        else list.push(id);
      }
    }
  }
  const queue: { id: string; cause: string }[] = [];
  for (const row of board.tasks) {
    if (holdsOthers(row) === null) continue;
    if (row.status === 'blocked') causes.set(row.id, row.id);
    queue.push({ id: row.id, cause: row.id });
  }
  for (let head = 0; head < queue.length; head += 1) {
    const { id, cause } = queue[head] as { id: string; cause: string };
    for (const dependent of dependents.get(id) ?? []) {
      if (causes.has(dependent)) continue;
      causes.set(dependent, cause);
      queue.push({ id: dependent, cause });
    }
  }
  for (const id of behindLoops(board, causes)) causes.set(id, null);
  return causes;
}

/** Blocked tasks that stay blocked although everything else gets done: they wait for each other. */
function behindLoops(board: Board, causes: ReadonlyMap<string, string | null>): string[] {
  const open = new Map<string, number>();
  const dependents = new Map<string, string[]>();
  for (const [id, blockers] of board.waitsFor) {
    if (board.byId.get(id)?.status !== 'blocked' || causes.has(id)) continue;
    const tops = new Set(blockers.map((blocker) => topOf(board.byId, blocker)));
    const blocked = [...tops].filter((top) => board.byId.get(top)?.status === 'blocked');
    open.set(id, blocked.length);
    for (const top of blocked) {
      const list = dependents.get(top);
      if (list === undefined) dependents.set(top, [id]);
      else list.push(id);
    }
  }
  const free = [...open].filter(([, count]) => count === 0).map(([id]) => id);
  for (let head = 0; head < free.length; head += 1) {
    for (const dependent of dependents.get(free[head] as string) ?? []) {
      const left = (open.get(dependent) ?? 0) - 1;
      open.set(dependent, left);
      if (left === 0) free.push(dependent);
    }
  }
  return [...open].filter(([, count]) => count > 0).map(([id]) => id);
}

/** In the order of the board. */
export function stuckViews(board: Board): StuckView[] {
  const causes = stuckCauses(board);
  const views: StuckView[] = [];
  if (causes.size === 0) return views;
  for (const { id } of board.tasks) {
    const cause = causes.get(id);
    if (cause === undefined) continue;
    views.push({
      id,
      waits_for: board.waitsFor.get(id) ?? nothing,
      reason: stuckReason(board, id, cause),
    });
  }
  return views;
}

/** One sentence from the root cause. */
export function stuckReason(board: Board, id: string, cause: string | null): string {
  if (cause === null) {
    return `${id} waits for itself through its blockers; remove one of them with "drover edit".`;
  }
  const row = board.byId.get(cause);
  const why = row === undefined ? 'is missing' : (holdsOthers(row) ?? 'does not move');
  if (cause === id) return `${id} ${why}.`;
  const waits = board.waitsFor.get(id) ?? nothing;
  const direct = waits.some((blocker) => withAncestors(board.byId, blocker).includes(cause));
  const first = waits.join(', ');
  return direct
    ? `${cause} ${why}.`
    : `It waits for ${first}, which cannot start: ${cause} ${why}.`;
}
