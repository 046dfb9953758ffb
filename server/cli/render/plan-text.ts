// Formats a plan for confirmation before it is written: epics, tasks in working order, and the
// blockers of each.

import { type ProposedEdge, sharedFileNames } from '../../core/spec/shared-files.ts';
import type { SpecPlanView } from '../../protocol/spec-plan.ts';
import { plainLine } from '../plain-text.ts';
import { wrap } from './fit.ts';
import type { Paint } from './style.ts';

export interface PlanTextOptions {
  readonly width: number;
  readonly paint: Paint;
}

type PlanView = Pick<SpecPlanView, 'epics' | 'tasks'>;

export function planText(plan: PlanView, { width, paint }: PlanTextOptions): string {
  const lines: string[] = [];
  const numbers = new Map(plan.tasks.map((task, index) => [task.id, index + 1]));
  const titles = new Map(plan.epics.map((epic) => [epic.id, epic.title]));
  const digits = String(plan.tasks.length).length;
  const indent = ' '.repeat(digits + 4);
  let epicId: string | null | undefined;
  for (const [index, task] of plan.tasks.entries()) {
    if (task.epic_id !== epicId) {
      epicId = task.epic_id;
      if (index > 0) lines.push('');
      const heading = epicId === null ? 'No epic' : `Epic: ${plainLine(titles.get(epicId) ?? '')}`;
      lines.push(paint('bold', wrap(heading, width, '  ')));
    }
    const number = String(index + 1).padStart(digits + 2);
    const priority = task.priority === 'normal' ? '' : `, ${task.priority}`;
    const title = `${number}  ${plainLine(task.title)} (${task.type}${priority})`;
    lines.push(wrap(title, width, indent));
    const blockers = task.blocked_by.map((id) => numbers.get(id) ?? 0).toSorted((a, b) => a - b);
    if (blockers.length > 0) {
      lines.push(paint('dim', wrap(`${indent}after ${blockers.join(', ')}`, width, indent)));
    }
    for (const criterion of task.acceptance_criteria) {
      lines.push(paint('dim', wrap(`${indent}- ${plainLine(criterion)}`, width, `${indent}  `)));
    }
  }
  return lines.join('\n');
}

/** Refers to tasks by their numbers in the plan's text. */
export function edgesText(
  { tasks }: Pick<PlanView, 'tasks'>,
  edges: readonly ProposedEdge[],
  width: number,
): string {
  const numbers = new Map(tasks.map((task, index) => [task.id, index + 1]));
  const lines = edges.map((edge) => {
    const [late, early] = [numbers.get(edge.task) ?? 0, numbers.get(edge.waitsFor) ?? 0];
    return wrap(
      `  ${late} could wait for ${early}: ${plainLine(sharedFileNames(edge))}`,
      width,
      '    ',
    );
  });
  const head =
    'These tasks name the same files and do not wait for each other, so they may conflict:';
  return [wrap(head, width, ''), ...lines].join('\n');
}

/** `2 epics and 6 tasks`. */
export function planCounts({
  epics,
  tasks,
}: {
  readonly epics: readonly unknown[];
  readonly tasks: readonly unknown[];
}): string {
  const count = (number: number, word: string): string =>
    `${number} ${word}${number === 1 ? '' : 's'}`;
  const counted = count(tasks.length, 'task');
  return epics.length === 0 ? counted : `${count(epics.length, 'epic')} and ${counted}`;
}
