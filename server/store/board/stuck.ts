// Finds tasks that cannot proceed by themselves, because something they wait for failed or waits
// for a person.

import type { StuckView, TaskView } from '../../protocol/api.ts';
import type { Board } from './board.ts';

export type Held = Pick<TaskView, 'id' | 'status' | 'last_error' | 'blocked_reason' | 'block'>;

/**
 * Why it holds other tasks, as the end of a sentence that starts with its id. Returns null for a
 * task that proceeds without a person.
 */
export function holdsOthers(task: Held): string | null {
  const { id } = task;
  switch (task.status) {
    case 'failed':
      return `has failed${inBrackets(task.last_error)}; use "drover retry ${id}"`;
    case 'cancelled':
      return `is cancelled; run "drover retry ${id}", or remove it as a blocker`;
    case 'conflict':
      return `is in conflict with landed work; use "drover retry ${id}"`;
    case 'needs_review':
      return `waits for a review; use "drover approve ${id}" or "drover send-back ${id}"`;
    case 'paused':
      return `is paused; use "drover unpause ${id}"`;
    case 'blocked':
      if (task.blocked_reason === null) return null;
      return task.block?.kind === 'red_base'
        ? `waits until ${task.block.on} passes its gate (${task.block.commit.slice(0, 7)} fails it); run "drover why ${id}"`
        : `is blocked from outside${inBrackets(task.blocked_reason)}; use "drover resolve ${id}"`;
    case 'ready':
    case 'claimed':
    case 'in_progress':
    case 'waiting':
    case 'completed':
      return null;
  }
}

const quotedMax = 160;

function inBrackets(text: string | null): string {
  if (text === null || text.trim() === '') return '';
  const line = text.replace(/\s+/gu, ' ').trim();
  return ` (${line.length > quotedMax ? `${line.slice(0, quotedMax)}…` : line})`;
}

/**
 * Maps each stuck task to the number of the task at the root of it, which may be the task itself,
 * or -1 for a loop.
 */
export type Causes = ReadonlyMap<number, number>;

export function stuckCauses(board: Board): Causes {
  const causes = new Map<number, number>();
  const holders: number[] = [];
  let blockedCount = 0;
  for (const [number, task] of board.tasks.entries()) {
    if (task.status === 'blocked') blockedCount += 1;
    if (holdsOthers(task) === null) continue;
    holders.push(number);
    if (task.status === 'blocked') causes.set(number, number);
  }
  if (blockedCount === 0) return causes;
  const dependents = dependentsOf(board);
  const queue = holders.map((number) => ({ number, cause: number }));
  for (let head = 0; head < queue.length; head += 1) {
    const { number, cause } = queue[head] as { number: number; cause: number };
    for (const dependent of dependents[number] ?? []) {
      if (causes.has(dependent)) continue;
      causes.set(dependent, cause);
      queue.push({ number: dependent, cause });
    }
  }
  for (const number of behindLoops(board, causes)) causes.set(number, -1);
  return causes;
}

/**
 * For each task, the blocked tasks that it holds. A sub-task that is a blocker runs with its
 * top-level task, so that one holds them too.
 */
function dependentsOf(board: Board): (number[] | undefined)[] {
  const dependents: (number[] | undefined)[] = Array.from({ length: board.tasks.length });
  const add = (holder: number, waiting: number): void => {
    const list = dependents[holder];
    if (list === undefined) dependents[holder] = [waiting];
    else list.push(waiting);
  };
  for (const [number, blockers] of board.waits.entries()) {
    if (blockers === undefined || board.tasks[number]?.status !== 'blocked') continue;
    for (const blocker of blockers) {
      add(blocker, number);
      const top = board.tops[blocker] ?? blocker;
      if (top !== blocker) add(top, number);
    }
  }
  return dependents;
}

/**
 * Blocked tasks that wait for each other, so that they stay blocked even when everything else is
 * done.
 */
function behindLoops(board: Board, causes: Causes): number[] {
  const { tasks, tops, waits } = board;
  const open = new Int32Array(tasks.length);
  const dependents: (number[] | undefined)[] = Array.from({ length: tasks.length });
  const free: number[] = [];
  const candidates: number[] = [];
  for (const [number, blockers] of waits.entries()) {
    if (blockers === undefined || tasks[number]?.status !== 'blocked') continue;
    if (causes.has(number)) continue;
    candidates.push(number);
    for (const blocker of blockers) {
      const top = tops[blocker] ?? blocker;
      if (tasks[top]?.status !== 'blocked') continue;
      open[number] = (open[number] ?? 0) + 1;
      const list = dependents[top];
      if (list === undefined) dependents[top] = [number];
      else list.push(number);
    }
    if (open[number] === 0) free.push(number);
  }
  for (let head = 0; head < free.length; head += 1) {
    for (const dependent of dependents[free[head] as number] ?? []) {
      const left = (open[dependent] ?? 0) - 1;
      open[dependent] = left;
      if (left === 0) free.push(dependent);
    }
  }
  return candidates.filter((number) => (open[number] ?? 0) > 0);
}

/** In board order. */
export function stuckViews(board: Board): StuckView[] {
  const causes = stuckCauses(board);
  const numbers = [...causes.keys()].sort((a, b) => a - b);
  return numbers.map((number) => {
    const task = board.tasks[number] as TaskView;
    const reason = stuckReason(board, number, causes.get(number) ?? -1);
    return { id: task.id, waits_for: task.waits_for, reason };
  });
}

const namedMax = 5;

/** One sentence that starts with the root cause. */
export function stuckReason(board: Board, number: number, causeNumber: number): string {
  const task = board.tasks[number] as TaskView;
  const cause = board.tasks[causeNumber];
  if (cause === undefined) {
    return `It can never start: its blockers (${shortList(task.waits_for)}) wait for each other in a loop; remove one of them with "drover edit".`;
  }
  const isDirect = (board.waits[number] ?? []).some(
    (blocker) => blocker === causeNumber || board.tops[blocker] === causeNumber,
  );
  return stuckReasonText({ id: task.id, waitsFor: task.waits_for, cause, isDirect });
}

export function stuckReasonText(stuck: {
  readonly id: string;
  readonly waitsFor: readonly string[];
  readonly cause: Held;
  readonly isDirect: boolean;
}): string {
  const { id, cause } = stuck;
  const why = holdsOthers(cause) ?? 'does not move';
  if (cause.id === id || stuck.isDirect) return `${cause.id} ${why}.`;
  return `It waits for ${shortList(stuck.waitsFor)}, which in the end waits for ${cause.id}: ${cause.id} ${why}.`;
}

/** Lists ids in a sentence; names only the first of many. */
export function shortList(ids: readonly string[]): string {
  const named = ids.slice(0, namedMax).join(', ');
  return ids.length > namedMax ? `${named} and ${ids.length - namedMax} more` : named;
}
