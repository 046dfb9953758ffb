// A short summary of the board: for the status bar, and for the message after a reconnect.

import {
  countOutcomes,
  type CountedTask,
  outcomesOfTasks,
} from '../../server/core/plan/outcome.ts';
import { ownedStatuses } from '../../server/core/plan/state.ts';
import { listNeeds } from '../../server/protocol/needs.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';

export interface Summary {
  /** Running agents. */
  readonly running: number;
  /** Tasks that will start by themselves. */
  readonly waiting: number;
  /** Tasks that continue only after a person's action. */
  readonly needYou: number;
}

export const nothing: Summary = { running: 0, waiting: 0, needYou: 0 };

export function summarise(board: StatusSnapshot): Summary {
  const outcomes = outcomesOfTasks(board);
  const countsOf = (tasks: readonly CountedTask[]) =>
    countOutcomes(tasks.flatMap(({ id }) => outcomes.get(id) ?? []));
  const { queued, blocked } = countsOf(tasksOfActiveRun(board));
  return {
    // A sub-task shares its parent's agent; each candidate has its own.
    running: board.tasks.filter((task) => task.parent_id === null && ownedStatuses.has(task.status))
      .length,
    waiting: queued + blocked + countsOf(board.tasks).quota,
    needYou: listNeeds(board).length,
  };
}

function tasksOfActiveRun({ run, tasks }: StatusSnapshot): readonly CountedTask[] {
  if (run?.active !== true) return [];
  const { epic_id: epic } = run;
  const only = run.tasks === undefined ? null : new Set(run.tasks);
  return tasks.filter((task) => only?.has(task.id) ?? (epic === null || task.epic_id === epic));
}

export function addUp(summaries: readonly Summary[]): Summary {
  return summaries.reduce(
    (sum, each) => ({
      running: sum.running + each.running,
      waiting: sum.waiting + each.waiting,
      needYou: sum.needYou + each.needYou,
    }),
    nothing,
  );
}

const agents = (count: number): string => `${count} agent${count === 1 ? '' : 's'}`;

/** Formats the counts for the status bar, with its icons. */
export function statusBarText({ running, waiting, needYou }: Summary): string {
  const parts = [
    running > 0 ? `$(sync~spin) ${running}` : null,
    waiting > 0 ? `$(clock) ${waiting}` : null,
    needYou > 0 ? `$(bell-dot) ${needYou}` : null,
  ].filter((part) => part !== null);
  return parts.length === 0 ? '$(checklist) Drover' : parts.join('  ');
}

/** `costs` are lines below the counts. */
export function statusBarHover(
  { running, waiting, needYou }: Summary,
  costs: readonly string[] = [],
): string {
  const counts = `Drover: ${agents(running)} running, ${waiting} queued, ${needYou} waiting for you`;
  return [counts, ...costs].join('\n');
}

/** Null if there is nothing to report. */
export function reattachedText({ running, needYou }: Summary): string | null {
  if (running === 0 && needYou === 0) return null;
  const waits = needYou === 0 ? '' : `, ${needYou} wait${needYou === 1 ? 's' : ''} for you`;
  return `Reattached: ${agents(running)} running${waits}`;
}
