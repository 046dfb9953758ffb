// Explains why a task is blocked: its blockers, and the root cause of each.

import { readBlockCause } from '../../core/plan/block-cause.ts';
import type { TaskView } from '../../protocol/api.ts';
import { type Board, readBoard } from '../board/board.ts';
import type { Db } from '../rows/one-moment.ts';
import { holdsOthers, shortList, stuckCauses } from '../board/stuck.ts';
import type { TaskRow } from '../schema/tables.ts';

const blockersNamedMax = 10;

export async function whyBlocked(db: Db, row: TaskRow): Promise<string[]> {
  if (row.blocked_reason !== null) {
    const reason = row.blocked_reason.replace(/\s+/gu, ' ').trim();
    if (readBlockCause(row.blocked_by)?.kind === 'red_base') {
      const next = `Mend it and commit, then run again: the task starts once the gate passes. If the task itself is to mend it, use "drover resolve ${row.id} --anyway --note <text>".`;
      return [`${row.id} is blocked. ${reason.replace(/\.$/u, '')}.`, next];
    }
    const resolve = `When that is fixed, use "drover resolve ${row.id} --note <text>" (or "drover retry ${row.id}").`;
    return [`${row.id} is blocked: ${reason.replace(/\.$/u, '')}.`, resolve];
  }
  const board = await readBoard(db);
  const number = board.numbers.get(row.id) ?? -1;
  const blockers = board.waits[number] ?? [];
  if (blockers.length === 0) {
    return [`${row.id} is blocked, although nothing blocks it any more; it becomes ready at once.`];
  }
  const causes = stuckCauses(board);
  const sentences = [
    `${row.id} waits for ${count(blockers.length, 'task')}: ${shortList(namesOf(board, blockers))}.`,
    ...blockers
      .slice(0, blockersNamedMax)
      .map((blocker) => blockerSentence(board, blocker, causes)),
  ];
  if (blockers.length > blockersNamedMax) {
    sentences.push(`… and ${blockers.length - blockersNamedMax} more.`);
  }
  if (causes.get(number) === -1) {
    sentences.push(
      `It can never start: its blockers wait for each other in a loop; remove one of them with "drover edit ${row.id} --remove-blocker <id>".`,
    );
  }
  return sentences;
}

function namesOf(board: Board, numbers: readonly number[]): string[] {
  return numbers.map((number) => board.tasks[number]?.id ?? '');
}

function count(n: number, noun: string): string {
  return n === 1 ? `one ${noun}` : `${n} ${noun}s`;
}

function blockerSentence(
  board: Board,
  number: number,
  causes: ReadonlyMap<number, number>,
): string {
  const blocker = board.tasks[number] as TaskView;
  const topNumber = board.tops[number] ?? number;
  const top = board.tasks[topNumber] as TaskView;
  const name = top === blocker ? blocker.id : `${blocker.id} (part of ${top.id})`;
  const holds = holdsOthers(top) ?? holdsOthers(blocker);
  if (holds !== null) return `${name} ${holds}.`;
  if (top.status === 'blocked') {
    const causeNumber = causes.get(topNumber);
    const cause = causeNumber === undefined ? undefined : board.tasks[causeNumber];
    if (cause !== undefined && cause !== top) {
      const path = pathTo(board, topNumber, causeNumber as number);
      return `${name} is blocked: ${path}; ${cause.id} ${holdsOthers(cause) ?? 'does not move'}.`;
    }
    const deepest = deepestBlocker(board, topNumber);
    return `${name} is blocked itself: ${deepest.path}; ${deepest.id} ${stateWords(deepest.task)}.`;
  }
  return `${name} ${stateWords(top)}.`;
}

function stateWords(task: TaskView): string {
  switch (task.status) {
    case 'ready':
      return task.next_attempt_at === null ? 'is ready to start' : 'waits for its next attempt';
    case 'claimed':
    case 'in_progress':
      return 'is running';
    case 'waiting':
      return 'waits until its agent has quota again';
    case 'completed':
      return 'is completed';
    case 'blocked':
      return 'is blocked';
    case 'paused':
    case 'needs_review':
    case 'conflict':
    case 'failed':
    case 'cancelled':
      return holdsOthers(task) ?? `is ${task.status}`;
  }
}

const pathNamesMax = 8;

/** `A waits for B, B waits for C`: the shortest path from a task to the root cause. */
function pathTo(board: Board, from: number, goal: number): string {
  const cameFrom = new Map<number, number>([[from, -1]]);
  const queue = [from];
  for (let head = 0; head < queue.length && !cameFrom.has(goal); head += 1) {
    const at = queue[head] as number;
    for (const blocker of board.waits[at] ?? []) {
      for (const next of [blocker, board.tops[blocker] ?? blocker]) {
        if (cameFrom.has(next)) continue;
        cameFrom.set(next, at);
        queue.push(next);
      }
    }
  }
  const names: string[] = [];
  for (let at = goal; at >= 0; at = cameFrom.get(at) ?? -1) {
    names.push(board.tasks[at]?.id ?? '');
  }
  return waitsText(names.toReversed());
}

/** Follows the first blocked blocker of each task until one that is not blocked. */
function deepestBlocker(
  board: Board,
  from: number,
): { readonly id: string; readonly path: string; readonly task: TaskView } {
  const names: string[] = [];
  const seen = new Set<number>();
  let at = from;
  while (!seen.has(at)) {
    seen.add(at);
    names.push(board.tasks[at]?.id ?? '');
    const next = (board.waits[at] ?? []).map((blocker) => board.tops[blocker] ?? blocker);
    const further = next.find((number) => board.tasks[number]?.status === 'blocked') ?? next[0];
    if (further === undefined) break;
    at = further;
  }
  const task = board.tasks[at] as TaskView;
  return { id: task.id, path: waitsText(names), task };
}

function waitsText(names: readonly string[]): string {
  const short =
    names.length <= pathNamesMax
      ? names
      : [...names.slice(0, pathNamesMax - 2), '…', ...names.slice(-1)];
  return short.length < 2
    ? `it waits for ${short.join('')}`
    : `it waits along ${short.join(' → ')}`;
}
