// Summarizes a large plan on one screen: the progress of each epic, the running tasks, and the main
// causes of waiting.

import {
  countCompleted,
  countsByEpic,
  noTasks,
  type OutcomeCounts,
  countWanted,
} from '../../core/plan/outcome.ts';
import { completedShare, outcomePercent, waitsForYou } from '../../core/plan/outcome-words.ts';
import type { StatusSnapshot, TaskView } from '../../protocol/api.ts';
import { plainLine } from '../plain-text.ts';
import { fit, displayWidth } from './fit.ts';
import { looks } from './style.ts';
import { isRunning } from './task-facts.ts';
import { taskTable, type TableOptions } from './task-table.ts';

/** With more tasks, they are not listed one by one. */
export const listedMax = 40;

const epicsMax = 6;
const runningMax = 8;
const blockersMax = 4;
const failedMax = 3;

/** Sections of lines. The caller omits empty ones. */
export function planSummary(snapshot: StatusSnapshot, view: TableOptions): string[][] {
  return [
    epicLines(snapshot, view),
    runningLines(snapshot.tasks, view),
    blockerLines(snapshot.tasks, view),
    failedLines(snapshot.tasks, view),
  ];
}

export function listHint(snapshot: StatusSnapshot): string {
  return `${snapshot.tasks.length} tasks: drover status --all lists them, --epic <id> those of an epic.`;
}

/** At most `max` lines, and the number of omitted ones. */
export function few<T>(
  items: readonly T[],
  most: number,
  lines: (item: T) => readonly string[],
): string[] {
  const left = items.length - most;
  const shown = items.slice(0, most).flatMap(lines);
  return left > 0 ? [...shown, `  … and ${left} more`] : shown;
}

/** Epics with running tasks first, then those with most remaining tasks. */
function epicLines(snapshot: StatusSnapshot, { paint, width }: TableOptions): string[] {
  const counted = countsByEpic(snapshot);
  const epics = snapshot.epics.map((epic) => ({ epic, counts: counted.get(epic.id) ?? noTasks }));
  const open = epics.filter(({ counts }) => leftOf(counts) > 0);
  if (open.length === 0) return [];
  const sorted = open.toSorted(
    ({ counts: a }, { counts: b }) => b.running - a.running || leftOf(b) - leftOf(a),
  );
  const lines = few(sorted, epicsMax, ({ epic, counts }) => {
    const share = `${completedShare(counts)} ${outcomePercent(counts)} %`;
    const facts = [share, ...newsOf(counts)].join(', ');
    const name = fit(`  ${epic.id} ${plainLine(epic.title)}`, width - displayWidth(facts) - 2);
    return [`${name}  ${facts}`];
  });
  return [paint('bold', 'Epics:'), ...lines];
}

function leftOf(counts: OutcomeCounts): number {
  return countWanted(counts) - countCompleted(counts);
}

function newsOf({ running, failed, waits }: OutcomeCounts): string[] {
  return [
    ...(running > 0 ? [`${running} running`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(waits > 0 ? [waitsForYou(waits)] : []),
  ];
}

function runningLines(tasks: readonly TaskView[], view: TableOptions): string[] {
  const running = tasks.filter(isRunning);
  if (running.length === 0) return [];
  const left = running.length - runningMax;
  const lines = taskTable(running.slice(0, runningMax), view);
  return left > 0 ? [...lines, `… and ${left} more`] : lines;
}

/** The tasks that most other tasks directly wait for. */
function blockerLines(tasks: readonly TaskView[], { paint, width }: TableOptions): string[] {
  const waiting = new Map<string, number>();
  for (const task of tasks) {
    if (task.status !== 'blocked') continue;
    for (const id of task.waits_for) waiting.set(id, (waiting.get(id) ?? 0) + 1);
  }
  if (waiting.size === 0) return [];
  const byId = new Map(tasks.map((task) => [task.id, task]));
  // Omits a blocker that waits itself, because its own blocker is listed above.
  const first = [...waiting].filter(([id]) => byId.get(id)?.status !== 'blocked');
  const sorted = first.toSorted(([, a], [, b]) => b - a);
  const lines = few(sorted, blockersMax, ([id, count]) => {
    const task = byId.get(id);
    const state = task === undefined ? '' : ` (${looks[task.status].word})`;
    const who = count === 1 ? '1 task waits' : `${count} tasks wait`;
    return [fit(`  ${who} for ${id}${state}  ${plainLine(task?.title ?? '')}`.trimEnd(), width)];
  });
  return lines.length === 0 ? [] : [paint('bold', 'Waits:'), ...lines];
}

function failedLines(tasks: readonly TaskView[], { paint, width }: TableOptions): string[] {
  const failed = tasks.filter((task) => task.status === 'failed');
  if (failed.length === 0) return [];
  const lines = few(failed, failedMax, ({ id, last_error: error, title }) => [
    fit(`  ${id}: ${plainLine(error ?? title)}`, width),
  ]);
  return [paint('bold', 'Failed:'), ...lines];
}
