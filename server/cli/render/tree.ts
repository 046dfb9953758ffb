// Formats epics, their tasks and sub-tasks, one line each, fitted to the width. If they do not all
// fit, active ones come first and the rest is counted.

import { candidateWords, taskAbove } from '../../protocol/candidates.ts';
import { countsByEpic, noTasks, type OutcomeCounts } from '../../core/plan/outcome.ts';
import { completedShare, outcomePercent } from '../../core/plan/outcome-words.ts';
import type { EpicView, StatusSnapshot, TaskView } from '../../protocol/api.ts';
import { plainLine } from '../plain-text.ts';
import { fill, fit, displayWidth } from './fit.ts';
import { looks, type Paint } from './style.ts';
import { formatFigures, situation } from './task-facts.ts';

export interface TreeOptions {
  readonly width: number;
  readonly paint: Paint;
  readonly nowMs: number;
  /** Maximum number of lines. */
  readonly rowsMax: number;
}

/**
 * On wider terminals, facts are placed at most this far to the right, unless the title is longer,
 * so that lines stay readable.
 */
const alignedMax = 110;

interface Branch {
  readonly task: TaskView;
  readonly below: Branch[];
}

interface Root {
  /** Null for tasks without an epic. */
  readonly epic: EpicView | null;
  readonly below: Branch[];
}

export function treeLines(snapshot: StatusSnapshot, options: TreeOptions): string[] {
  const shown = tasksToShow(snapshot, options.rowsMax);
  const roots = rootsOf(snapshot, shown);
  const counted = countsByEpic(snapshot);
  const lines: string[] = [];
  for (const { epic, below } of roots) {
    if (epic !== null) lines.push(epicLine(epic, counted.get(epic.id) ?? noTasks, options));
    else if (roots.length > 1) lines.push(options.paint('bold', '(without an epic)'));
    branchLines(below, '', options, lines);
  }
  const hidden = snapshot.tasks.filter((task) => !shown.has(task.id));
  if (hidden.length > 0) lines.push(options.paint('dim', fit(hiddenText(hidden), options.width)));
  return lines;
}

/** All tasks if they fit, else the most active ones with their ancestors. */
function tasksToShow({ tasks, epics }: StatusSnapshot, rowsMax: number): ReadonlySet<string> {
  if (tasks.length + epics.length + 1 <= rowsMax) return new Set(tasks.map((task) => task.id));
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const shown = new Set<string>();
  const groups = new Set<string | null>();
  for (const task of tasks.toSorted((a, b) => looks[a.status].rank - looks[b.status].rank)) {
    const chain: string[] = [];
    for (let at: TaskView | undefined = task; at !== undefined;) {
      if (shown.has(at.id) || chain.includes(at.id)) break;
      chain.push(at.id);
      at = byId.get(taskAbove(at) ?? '');
    }
    const group = groups.has(task.epic_id) ? 0 : 1;
    // One line is left for the number of hidden tasks.
    if (shown.size + groups.size + chain.length + group + 1 > rowsMax) break;
    for (const id of chain) shown.add(id);
    groups.add(task.epic_id);
  }
  return shown;
}

function rootsOf({ tasks, epics }: StatusSnapshot, shown: ReadonlySet<string>): Root[] {
  const branches = new Map<string, Branch>();
  for (const task of tasks) if (shown.has(task.id)) branches.set(task.id, { task, below: [] });
  const roots = new Map<string | null, Root>();
  for (const epic of epics) roots.set(epic.id, { epic, below: [] });
  roots.set(null, { epic: null, below: [] });
  for (const branch of branches.values()) {
    const { epic_id: epic } = branch.task;
    const above = branches.get(taskAbove(branch.task) ?? '');
    (above ?? roots.get(epic) ?? roots.get(null))?.below.push(branch);
  }
  const everything = shown.size === tasks.length;
  return [...roots.values()].filter(
    ({ epic, below }) => below.length > 0 || (everything && epic !== null),
  );
}

function branchLines(
  branches: readonly Branch[],
  indent: string,
  options: TreeOptions,
  lines: string[],
  of: TaskView | null = null,
): void {
  for (const [at, { task, below }] of branches.entries()) {
    const isLast = at === branches.length - 1;
    lines.push(taskLine(task, `${indent}${isLast ? '└─ ' : '├─ '}`, options, of));
    branchLines(below, `${indent}${isLast ? '   ' : '│  '}`, options, lines, task);
  }
}

function epicLine(epic: EpicView, counts: OutcomeCounts, { width, paint }: TreeOptions): string {
  const facts = `${completedShare(counts)} ${outcomePercent(counts)} %`;
  const status = epic.status === 'closed' ? ' (closed)' : '';
  const name = fit(`${epic.id} ${plainLine(epic.title)}${status}`, width - displayWidth(facts) - 2);
  return `${paint('bold', name)}  ${facts}`;
}

function taskLine(
  task: TaskView,
  prefix: string,
  { width, paint, nowMs }: TreeOptions,
  of: TaskView | null,
): string {
  const { symbol, tone } = looks[task.status];
  const candidate = candidateWords(task, of, situation(task));
  if (candidate !== null) {
    const line = fit(`${task.id} ${plainLine(candidate)}`, width - displayWidth(prefix) - 2);
    return `${paint('dim', prefix)}${paint(tone, symbol)} ${line}`;
  }
  const facts = [situation(task), formatFigures(task, nowMs)]
    .filter((fact) => fact !== '')
    .join(' ');
  const room = width - displayWidth(prefix) - 2;
  // At most half of the line is for the facts, because the title is more important.
  const right = fit(facts, Math.max(0, Math.floor(room / 2)));
  const name = `${task.id} ${plainLine(task.title)}`;
  const head = `${paint('dim', prefix)}${paint(tone, symbol)} `;
  if (right === '') return `${head}${fit(name, room)}`;
  const left = Math.min(room, alignedMax) - displayWidth(right) - 2;
  const filled =
    displayWidth(name) > left ? fill(name, room - displayWidth(right) - 2) : fill(name, left);
  return `${head}${filled}  ${paint('dim', right)}`;
}

function hiddenText(hidden: readonly TaskView[]): string {
  const counts = new Map<string, number>();
  for (const task of hidden.toSorted((a, b) => looks[a.status].rank - looks[b.status].rank)) {
    const { word } = looks[task.status];
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const parts = [...counts].map(([word, count]) => `${count} ${word}`);
  return `… and ${hidden.length} more: ${parts.join(', ')}`;
}
