// The Kanban columns: which tasks each contains, and the facts on a task's card.

import { listCandidates, candidateWords, taskAbove } from '../../server/protocol/candidates.ts';
import { formatCost, formatCount, formatDuration, stepText } from '../../server/core/format.ts';
import type { ForecastView } from '../../server/protocol/task-fields.ts';
import type { TaskStatus } from '../../server/core/plan/state.ts';
import { askingTasks, taskNeed } from '../../server/protocol/needs.ts';
import type { StatusSnapshot, TaskView } from '../../server/protocol/views.ts';
import { foreseenConflicts, foreseenWords } from '../shared/foreseen.ts';
import { runningGateWords } from '../shared/running-gate.ts';
import { statusWords, runsOnWorker } from '../shared/status-words.ts';
import { visibleLine } from '../shared/looks/visible-text.ts';

export const columnNames = ['waiting', 'ready', 'working', 'asks', 'done'] as const;
export type ColumnName = (typeof columnNames)[number];

export const columnTitles: { readonly [N in ColumnName]: string } = {
  waiting: 'Waiting',
  ready: 'Ready',
  working: 'Working',
  asks: 'Needs you',
  done: 'Done',
};

const columnOfStatus: { readonly [S in TaskStatus]: ColumnName } = {
  blocked: 'waiting',
  ready: 'ready',
  claimed: 'working',
  in_progress: 'working',
  // Approved, and about to land.
  needs_review: 'working',
  conflict: 'asks',
  paused: 'waiting',
  waiting: 'waiting',
  completed: 'done',
  failed: 'asks',
  cancelled: 'done',
};

/** The column "Needs you" has the same tasks as the inbox. */
export function chooseColumn(task: TaskView, isAsking: boolean): ColumnName {
  return isAsking || taskNeed(task) !== null ? 'asks' : columnOfStatus[task.status];
}

export interface Card {
  readonly task: TaskView;
  readonly epic: string | null;
  /** The agent has asked a question and waits for the answer. */
  readonly isAsking: boolean;
  /** Sub-tasks run inside their task, so they have no separate card. */
  readonly parts: { readonly done: number; readonly total: number };
  /** They have no separate card either. */
  readonly candidates: readonly TaskView[];
  /** Titles of its blockers. */
  readonly waitsFor: readonly string[];
  /** Foreseen conflicts, with the title of the other task. */
  readonly conflictsWith: readonly ForecastView[];
}

export type Columns = { readonly [N in ColumnName]: readonly Card[] };

/**
 * `epic` is the selected epic, or null for all. Ended tasks are sorted by their end, latest first.
 */
export function groupByColumn(board: StatusSnapshot, epic: string | null): Columns {
  const epics = new Map(board.epics.map(({ id, title }) => [id, title]));
  const titles = new Map(board.tasks.map(({ id, title }) => [id, title]));
  const parts = partsOf(board.tasks);
  const asking = askingTasks(board);
  const tried = new Set(board.tasks.map(({ candidate_of: of }) => of));
  const columns: { [N in ColumnName]: Card[] } = {
    waiting: [],
    ready: [],
    working: [],
    asks: [],
    done: [],
  };
  for (const task of board.tasks) {
    if (taskAbove(task) !== null || (epic !== null && task.epic_id !== epic)) continue;
    const isAsking = asking.has(task.id);
    columns[chooseColumn(task, isAsking)].push({
      task,
      isAsking,
      epic: task.epic_id === null ? null : (epics.get(task.epic_id) ?? null),
      parts: parts.get(task.id) ?? { done: 0, total: 0 },
      candidates: tried.has(task.id) ? listCandidates(board.tasks, task.id) : [],
      waitsFor: task.waits_for.map((id) => titles.get(id) ?? id),
      conflictsWith: foreseenConflicts(task).map((foreseen) => ({
        ...foreseen,
        other: titles.get(foreseen.other ?? '') ?? foreseen.other,
      })),
    });
  }
  columns.done.sort(latestFirst);
  return columns;
}

function latestFirst(a: Card, b: Card): number {
  return b.task.updated_at - a.task.updated_at;
}

/** Sub-tasks of every level count toward their top-level task. */
function partsOf(tasks: readonly TaskView[]): Map<string, { done: number; total: number }> {
  const parents = new Map(tasks.map(({ id, parent_id }) => [id, parent_id]));
  const found = new Map<string, { done: number; total: number }>();
  for (const task of tasks) {
    if (task.parent_id === null) continue;
    const top = topOf(task.parent_id, parents);
    const count = found.get(top) ?? { done: 0, total: 0 };
    count.total += 1;
    if (task.status === 'completed') count.done += 1;
    found.set(top, count);
  }
  return found;
}

const levelsMax = 100;

function topOf(id: string, parents: ReadonlyMap<string, string | null>): string {
  let at = id;
  for (let level = 0; level < levelsMax; level++) {
    const above = parents.get(at) ?? null;
    if (above === null) return at;
    at = above;
  }
  return at;
}

const shownCharsMax = 300;

/** Titles and reasons are untrusted text, so they are shortened and sanitized. */
export function shown(text: string): string {
  return visibleLine(text.slice(0, shownCharsMax));
}

/** The secondary line of a card: agent, attempt, elapsed time, cost. Defaults are omitted. */
export function cardFacts({ task, parts, isAsking }: Card, nowMs: number): readonly string[] {
  const facts: string[] = [];
  const isBusy = task.status === 'in_progress' || task.status === 'claimed';
  if (task.status !== 'ready' && task.status !== 'completed')
    facts.push(statusWords(task, isAsking));
  if (typeof task.machine === 'string' && task.status !== 'completed') {
    facts.push(`on ${shown(task.machine)}`);
  }
  if (task.agent !== null) facts.push(shown(stepText({ ...task, agent: task.agent })));
  if (runsOnWorker(task)) facts.push('on a worker');
  if (task.attempts > 0 && task.status !== 'completed') {
    facts.push(formatCount(task.attempts, 'attempt'));
  }
  if (isBusy && task.started_at !== null) {
    facts.push(formatDuration(Math.floor(Math.max(0, nowMs / 1000 - task.started_at)) * 1000));
  }
  if (parts.total > 0) facts.push(`${parts.done}/${parts.total} parts`);
  if (task.cost > 0) facts.push(formatCost(task.cost));
  return facts;
}

const namedMax = 3;

/** Why a card waits, or which gate runs on it; null if its column already shows this. */
export function cardReason({ task, candidates, conflictsWith, waitsFor }: Card): string | null {
  if (task.status === 'blocked' && task.blocked_reason !== null) return shown(task.blocked_reason);
  const live = candidates.filter(({ status }) => status !== 'cancelled');
  if (task.status === 'blocked' && live.length > 0) {
    return live.map((each) => candidateWords(each, task, statusWords(each)) ?? '').join(' · ');
  }
  if (task.status === 'blocked' && waitsFor.length > 0) {
    const named = waitsFor.slice(0, namedMax).map(shown).join(', ');
    const left = waitsFor.length - namedMax;
    return `after ${named}${left > 0 ? ` and ${left} more` : ''}`;
  }
  const [forecast] = conflictsWith;
  if (forecast !== undefined) return foreseenWords(forecast);
  if (task.status === 'conflict') {
    const files = task.conflict_files.slice(0, namedMax).map(shown).join(', ');
    return files === '' ? null : files;
  }
  const isOver = task.status === 'failed' || task.status === 'cancelled';
  if (isOver && task.last_error !== null) return shown(task.last_error);
  return runningGateWords(task);
}
