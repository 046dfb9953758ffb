// Everything that waits for the user. The inbox, tree, board, graph, messages, badge and status bar
// all use this. Pure.

import type { WrongState } from '../core/work/wrong-state.ts';
import { standOfView } from './candidates.ts';
import type {
  EpicView,
  HoldView,
  QuestionView,
  RunView,
  StatusSnapshot,
  TaskView,
} from './views.ts';

/** Why something waits for the user. */
export type Need =
  | { readonly kind: 'question'; readonly question: QuestionView; readonly task: TaskView | null }
  | { readonly kind: TaskNeed; readonly task: TaskView }
  /** A branch fails its gate. This is one problem, however many tasks wait for it. */
  | { readonly kind: 'red_base'; readonly on: string; readonly tasks: readonly TaskView[] }
  | { readonly kind: EpicNeed; readonly epic: EpicView }
  /** Landed commits wait until the user's checkout can receive them. */
  | { readonly kind: 'pending'; readonly count: number }
  /** A branch or its checkout is in a wrong state. */
  | { readonly kind: 'wrong'; readonly state: WrongState }
  /** The worktrees use all the space that they may. */
  | { readonly kind: 'no_room'; readonly hold: HoldView };

export type TaskNeed = 'review' | 'plan' | 'conflict' | 'failed' | 'blocked';
export type EpicNeed = 'epic_review' | 'epic_conflict' | 'epic_unlanded';

type NeedingBoard = Pick<
  StatusSnapshot,
  'tasks' | 'epics' | 'questions' | 'target' | 'run' | 'holds'
>;

/** Returns null if the task continues without the user or is over. */
export function taskNeed(task: TaskView): TaskNeed | null {
  switch (task.status) {
    case 'needs_review':
      // The task is approved and about to land.
      if (task.phase === 'land') return null;
      // The question about its task follows when all candidates are done.
      if (task.review_kind === 'candidate') return null;
      return task.review_kind === 'plan' ? 'plan' : 'review';
    case 'conflict':
      return 'conflict';
    case 'failed':
      return 'failed';
    case 'blocked':
      return task.blocked_reason === null ? null : 'blocked';
    case 'ready':
    case 'claimed':
    case 'in_progress':
    case 'paused':
    case 'waiting':
    case 'completed':
    case 'cancelled':
      return null;
  }
}

export function epicNeed(epic: EpicView, run: RunView | null): EpicNeed | null {
  const { landing_state: state } = epic;
  if (state === 'landing' || state === 'pull_request') return null;
  if (state === 'needs_review') return 'epic_review';
  if (state === 'conflict' || state === 'gate_failed' || state === 'returned')
    return 'epic_conflict';
  return canLand(epic) && !isRunOf(epic, run) ? 'epic_unlanded' : null;
}

/**
 * Whether every task is over and work is only on the epic's branch, so that a run of the epic would
 * land it.
 */
export function canLand({ counts, progress }: EpicView): boolean {
  const { total, completed, cancelled } = counts;
  return completed > 0 && completed + cancelled === total && progress < 100;
}

/** Whether the run lands the epic itself. */
function isRunOf({ id }: EpicView, run: RunView | null): boolean {
  return run?.active === true && (run.epic_id === null || run.epic_id === id);
}

/**
 * Everything that waits for the user, in no particular order. An open question represents its task,
 * but a review's question does not, because the task itself contains more.
 */
export function listNeeds(board: NeedingBoard): readonly Need[] {
  const tasks = new Map(board.tasks.map((task) => [task.id, task]));
  const asked = board.questions.filter(
    ({ state, kind, task_id }) =>
      state === 'open' && !(kind === 'review' && tasks.get(task_id)?.status === 'needs_review'),
  );
  const asking = new Set(asked.map(({ task_id }) => task_id));
  const needs: Need[] = asked.map((question) => {
    return { kind: 'question', question, task: tasks.get(question.task_id) ?? null };
  });
  const hopeful = withLiveCandidates(board.tasks);
  const red = new Map<string, TaskView[]>();
  for (const task of board.tasks) {
    // While another candidate can be chosen, a failed one needs no action.
    if (task.candidate_of !== null && task.status === 'failed' && hopeful.has(task.candidate_of))
      continue;
    const kind = asking.has(task.id) ? null : taskNeed(task);
    if (kind === null) continue;
    if (task.block?.kind !== 'red_base') {
      needs.push({ kind, task });
      continue;
    }
    const { on } = task.block;
    const tasks = red.get(on);
    if (tasks !== undefined) tasks.push(task);
    else {
      red.set(on, [task]);
      needs.push({ kind: 'red_base', on, tasks: red.get(on) ?? [] });
    }
  }
  for (const epic of board.epics) {
    const kind = epicNeed(epic, board.run);
    if (kind !== null) needs.push({ kind, epic });
  }
  const pending = board.target?.pending ?? 0;
  if (pending > 0) needs.push({ kind: 'pending', count: pending });
  for (const state of board.target?.wrong ?? []) needs.push({ kind: 'wrong', state });
  for (const hold of board.holds) {
    if (hold.scope === 'worktrees') needs.push({ kind: 'no_room', hold });
  }
  return needs;
}

/** Tasks with a candidate that passed its gate or still can. */
function withLiveCandidates(tasks: readonly TaskView[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const task of tasks) {
    if (task.candidate_of !== null && standOfView(task) !== 'ended') found.add(task.candidate_of);
  }
  return found;
}

/** Tasks with an open question of their agent, and the parents of such tasks. */
export function askingTasks({
  tasks,
  questions,
}: Pick<StatusSnapshot, 'tasks' | 'questions'>): ReadonlySet<string> {
  const found = new Set<string>();
  const open = questions.filter(({ state, kind }) => state === 'open' && kind !== 'review');
  if (open.length === 0) return found;
  const parents = new Map(tasks.map(({ id, parent_id }) => [id, parent_id]));
  for (const { task_id } of open) {
    for (let id: string | null = task_id; id !== null && !found.has(id);) {
      found.add(id);
      id = parents.get(id) ?? null;
    }
  }
  return found;
}

/** Number of items per epic that wait for the user: its tasks and the epic itself. */
export function needsByEpic(board: NeedingBoard): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const need of listNeeds(board)) {
    for (const id of epicIdsOf(need)) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

function epicIdsOf(need: Need): readonly string[] {
  if ('epic' in need) return [need.epic.id];
  const tasks = 'tasks' in need ? need.tasks : 'task' in need ? [need.task] : [];
  return [...new Set(tasks.flatMap((task) => task?.epic_id ?? []))];
}
