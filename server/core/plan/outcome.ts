// Determines the outcome of each task and counts tasks by outcome. Every view that counts tasks
// uses this, so that the numbers of any two views agree. Pure.

import type { BlockCause } from './block-cause.ts';
import type { TaskStatus } from './state.ts';

/**
 * `done`: completed, but only on the branch of an epic that has not landed. `waits`: for a person,
 * because of a review, a conflict, a question or an external cause. `quota`: for its agent's
 * account.
 */
export const taskOutcomes = [
  'landed',
  'done',
  'failed',
  'waits',
  'running',
  'queued',
  'quota',
  'blocked',
  'paused',
  'cancelled',
] as const;

export type TaskOutcome = (typeof taskOutcomes)[number];

export type OutcomeCounts = { readonly total: number } & { readonly [O in TaskOutcome]: number };

export interface CountedTask {
  readonly id: string;
  readonly epic_id: string | null;
  readonly parent_id: string | null;
  readonly candidate_of: string | null;
  readonly status: TaskStatus;
  readonly phase: string | null;
  readonly blocked_reason: string | null;
  readonly block: Pick<BlockCause, 'kind'> | null;
  readonly review_kind: string | null;
  /** The branch that its work landed on. */
  readonly landed_on: string | null;
}

export interface CountedBoard {
  readonly tasks: readonly CountedTask[];
  readonly questions: readonly { readonly task_id: string; readonly state: string }[];
  readonly epics: readonly { readonly id: string; readonly landing_state: string | null }[];
}

/** Prefix of the branch of an epic that lands as a whole; the epic's id follows. */
export const epicLinePrefix = 'drover/epic/';

/** Sub-tasks and candidates belong to their task and are not counted separately. */
export function isCounted(task: Pick<CountedTask, 'parent_id' | 'candidate_of'>): boolean {
  return task.parent_id === null && task.candidate_of === null;
}

/** Maps each counted task to its outcome. */
export function outcomesOfTasks(board: CountedBoard): ReadonlyMap<string, TaskOutcome> {
  const landed = new Set(
    board.epics.flatMap(({ id, landing_state: state }) => (state === 'landed' ? [id] : [])),
  );
  const asking = new Set(
    board.questions.flatMap(({ task_id: id, state }) => (state === 'open' ? [id] : [])),
  );
  const own = new Map<string, TaskOutcome>();
  for (const task of board.tasks) own.set(task.id, ownOutcome(task, asking, landed));
  const parts = partsByTask(board.tasks);
  const outcomes = new Map<string, TaskOutcome>();
  for (const task of board.tasks) {
    if (!isCounted(task)) continue;
    const outcome = own.get(task.id) ?? 'queued';
    const below = parts.get(task.id);
    outcomes.set(
      task.id,
      below === undefined ? outcome : withParts(outcome, new Set(below.map((id) => own.get(id)))),
    );
  }
  return outcomes;
}

export const noTasks: OutcomeCounts = countOutcomes([]);

export function countOutcomes(outcomes: Iterable<TaskOutcome>): OutcomeCounts {
  const counts = Object.fromEntries(taskOutcomes.map((outcome) => [outcome, 0])) as {
    [O in TaskOutcome]: number;
  };
  let total = 0;
  for (const outcome of outcomes) {
    counts[outcome] += 1;
    total += 1;
  }
  return { total, ...counts };
}

/** Counts per epic. The key null stands for tasks without an epic. */
export function countsByEpic(board: CountedBoard): ReadonlyMap<string | null, OutcomeCounts> {
  const outcomes = outcomesOfTasks(board);
  const byEpic = Map.groupBy(board.tasks, ({ epic_id: id }) => id);
  return new Map(
    [...byEpic].map(([id, tasks]) => [
      id,
      countOutcomes(tasks.flatMap((task) => outcomes.get(task.id) ?? [])),
    ]),
  );
}

/** Completed tasks, whether their work is on the target or only on an epic's branch. */
export function countCompleted({ landed, done }: OutcomeCounts): number {
  return landed + done;
}

/** Tasks that are not over, not running and not waiting for a person. */
export function countOpen({ queued, quota, blocked, paused }: OutcomeCounts): number {
  return queued + quota + blocked + paused;
}

/** All tasks that are not canceled. */
export function countWanted({ total, cancelled }: OutcomeCounts): number {
  return total - cancelled;
}

function ownOutcome(
  task: CountedTask,
  asking: ReadonlySet<string>,
  landedEpics: ReadonlySet<string>,
): TaskOutcome {
  const { id, status } = task;
  switch (status) {
    case 'completed':
      return isOnTarget(task, landedEpics) ? 'landed' : 'done';
    case 'failed':
    case 'cancelled':
      return status;
    case 'conflict':
      return 'waits';
    case 'needs_review':
      // A candidate that passed its gate waits for the choice between candidates, not for a review.
      if (task.candidate_of !== null && task.review_kind === 'candidate') return 'blocked';
      // An approved task lands without further action.
      return task.phase === 'land' ? 'running' : 'waits';
    case 'blocked':
      if (asking.has(id)) return 'waits';
      // If the task waits for a branch that fails its gate, a person is asked once for the branch
      // and not for each task.
      return task.blocked_reason !== null && task.block === null ? 'waits' : 'blocked';
    case 'claimed':
    case 'in_progress':
      return asking.has(id) ? 'waits' : 'running';
    case 'ready':
      return asking.has(id) ? 'waits' : 'queued';
    case 'waiting':
      return asking.has(id) ? 'waits' : 'quota';
    case 'paused':
      return asking.has(id) ? 'waits' : 'paused';
  }
}

/** Completed work without a commit has nothing left to land. */
function isOnTarget({ landed_on: line }: CountedTask, landedEpics: ReadonlySet<string>): boolean {
  if (line?.startsWith(epicLinePrefix) !== true) return true;
  return landedEpics.has(line.slice(epicLinePrefix.length));
}

/**
 * A task waits for a person if any of its parts does. While candidates run, it counts as running.
 */
function withParts(outcome: TaskOutcome, parts: ReadonlySet<TaskOutcome | undefined>): TaskOutcome {
  switch (outcome) {
    case 'landed':
    case 'done':
    case 'failed':
    case 'cancelled':
    case 'waits':
      return outcome;
    case 'running':
    case 'queued':
    case 'quota':
    case 'paused':
      return parts.has('waits') ? 'waits' : outcome;
    case 'blocked':
      for (const part of ['waits', 'running', 'queued', 'quota'] as const) {
        if (parts.has(part)) return part;
      }
      return outcome;
  }
}

/** Groups sub-tasks and candidates of all levels by their counted task. */
function partsByTask(tasks: readonly CountedTask[]): ReadonlyMap<string, readonly string[]> {
  const above = new Map<string, string>();
  for (const { id, parent_id: parent, candidate_of: of } of tasks) {
    const upper = parent ?? of;
    if (upper !== null) above.set(id, upper);
  }
  const parts = new Map<string, string[]>();
  for (const id of above.keys()) {
    const top = topAbove(id, above);
    const known = parts.get(top);
    if (known === undefined) parts.set(top, [id]);
    else known.push(id);
  }
  return parts;
}

const levelsMax = 100;

function topAbove(id: string, above: ReadonlyMap<string, string>): string {
  let top = id;
  for (let level = 0; level < levelsMax; level += 1) {
    const upper = above.get(top);
    if (upper === undefined) break;
    top = upper;
  }
  return top;
}
