// Formats `drover status` for people.

import { countsLine, outcomePercent } from '../../core/plan/outcome-words.ts';
import { hasIgnoredResults } from '../../core/plan/task.ts';
import type { MachineView, RunView, StatusSnapshot, TaskView } from '../../protocol/api.ts';
import { plainLine } from '../plain-text.ts';
import { costText, durationText, progressBar } from './figures.ts';
import { wrap } from './fit.ts';
import { few, listedMax, listHint, planSummary } from './plan-summary.ts';
import { createPaint, type Paint } from './style.ts';
import {
  answerCommand,
  countsOfBoard,
  openQuestions,
  targetLine,
  targetNotices,
  totalCost,
} from './summary.ts';
import { taskTable, type TableOptions } from './task-table.ts';
import { treeLines } from './tree.ts';

export interface StatusTextOptions {
  readonly width: number;
  readonly color: boolean;
  readonly nowMs: number;
  readonly tree: boolean;
  /** Lists every task even if the plan is large. */
  readonly all?: boolean;
}

const barWidth = 30;
/** Maximum number of stuck tasks, and of tasks that wait for the user, in a summary. */
const itemsMax = 3;

export function statusText(snapshot: StatusSnapshot, options: StatusTextOptions): string {
  const { width, nowMs } = options;
  const paint = createPaint(options.color);
  const view = { width, paint, nowMs };
  const sections: (readonly string[])[] = [headLines(snapshot, view)];
  const isLarge = snapshot.tasks.length > listedMax;
  const isSummary = isLarge && !options.tree && options.all !== true;
  if (snapshot.tasks.length === 0 && snapshot.epics.length === 0) {
    sections.push(['No tasks yet. To add one, run: drover add "…"']);
  } else if (options.tree) {
    sections.push(treeLines(snapshot, { ...view, rowsMax: Number.POSITIVE_INFINITY }));
  } else if (isSummary) {
    sections.push(...planSummary(snapshot, view));
  } else if (snapshot.tasks.length > 0) {
    sections.push(taskTable(snapshot.tasks, view));
  }
  sections.push(holdLines(snapshot, paint, width));
  sections.push(unacceptedLines(snapshot, paint, width));
  const most = isSummary ? itemsMax : Number.POSITIVE_INFINITY;
  sections.push(stuckLines(snapshot, paint, width, most));
  sections.push(needsYouLines(snapshot, paint, width, most));
  if (isSummary) sections.push([wrap(listHint(snapshot), width)]);
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function headLines(snapshot: StatusSnapshot, { width, paint, nowMs }: TableOptions): string[] {
  const { run } = snapshot;
  const counts = countsOfBoard(snapshot);
  const percent = outcomePercent(counts);
  const cost = costText(totalCost(snapshot));
  const bar = paint('green', progressBar(percent, barWidth));
  const lines = [
    wrap(countsLine(snapshot.tasks), width),
    `${bar} ${percent} %${cost && `  ${cost}`}`,
  ];
  if (run !== null) lines.push(wrap(runLine(run, nowMs), width, '     '));
  if (snapshot.unattended === true)
    lines.push(
      paint('yellow', wrap('No backend is running it; "drover resume" continues it.', width)),
    );
  const machines = machinesLine(snapshot.machines ?? []);
  if (machines !== null) lines.push(wrap(machines, width, '          '));
  lines.push(
    ...machineNotes(snapshot.machines ?? []).map((note) => paint('yellow', wrap(note, width))),
  );
  if (snapshot.no_lander !== undefined)
    lines.push(paint('yellow', wrap(plainLine(snapshot.no_lander), width)));
  const target = targetLine(snapshot);
  if (target !== null) lines.push(wrap(target, width, '        '));
  for (const notice of targetNotices(snapshot)) lines.push(paint('yellow', wrap(notice, width)));
  return lines;
}

/** Omits machines that have left. */
function machinesLine(machines: readonly MachineView[]): string | null {
  const words = machines.flatMap(({ name, state, agents, agents_max: most, heard_ago_ms: ms }) => {
    const place = plainLine(name);
    switch (state) {
      case 'working':
        return [`${place} ${agents}/${most}`];
      case 'draining':
        return [`${place} ${agents} draining`];
      case 'dead':
        return [`${place} dead for ${durationText(ms / 1000)}`];
      case 'left':
        return [];
    }
  });
  return words.length === 0 ? null : `Machines: ${words.join(', ')}`;
}

/**
 * Why a machine accepts fewer tasks than it could, for example because its git remote does not
 * respond.
 */
function machineNotes(machines: readonly MachineView[]): readonly string[] {
  return machines.flatMap(({ name, note, state }) => {
    const isAlive = state === 'working' || state === 'draining';
    return isAlive && note !== null ? [plainLine(`${name}: ${note}`)] : [];
  });
}

const landTexts: { readonly [L in RunView['land']]: string } = {
  task: 'each task lands',
  epic: 'the epic lands as a whole',
  review: 'the epic lands after review',
  pr: 'the epic lands through a pull request',
};

function runLine(run: RunView, nowMs: number): string {
  const endS = run.ended_at ?? nowMs / 1000;
  const time = durationText(endS - run.started_at);
  const state = run.active ? `active for ${time}` : `over after ${time}`;
  const scope = run.epic_id === null ? '' : `, epic ${run.epic_id}`;
  const agents = run.workers === 1 ? '1 agent' : `${run.workers} agents`;
  const result =
    run.result_branch === null || run.result_branch === run.target_branch
      ? ''
      : `, result on ${plainLine(run.result_branch)}`;
  return `Run: ${state}, ${agents}${scope}, ${landTexts[run.land]}${result}`;
}

function holdLines(snapshot: StatusSnapshot, paint: Paint, width: number): string[] {
  if (snapshot.holds.length === 0) return [];
  const lines = snapshot.holds.map(({ reason }) => wrap(`  ${plainLine(reason)}`, width, '    '));
  return [paint('yellow', 'Held:'), ...lines];
}

function unacceptedLines(snapshot: StatusSnapshot, paint: Paint, width: number): string[] {
  const { unaccepted = [] } = snapshot;
  if (unaccepted.length === 0) return [];
  const lines = unaccepted.map(({ shown, by }) =>
    wrap(
      `  ${plainLine(shown)}${by === null ? '' : `, landed by ${plainLine(by)}`}`,
      width,
      '    ',
    ),
  );
  const title = 'Settings in .drover.toml that are not used until you accept them (drover trust):';
  return [paint('yellow', wrap(title, width)), ...lines];
}

function stuckLines(snapshot: StatusSnapshot, paint: Paint, width: number, most: number): string[] {
  if (snapshot.stuck.length === 0) return [];
  const lines = few(snapshot.stuck, most, ({ id, reason }) => [
    wrap(`  ${id}: ${plainLine(reason)}`, width, '    '),
  ]);
  return [paint('bold', 'Stuck:'), ...lines];
}

function needsYouLines(
  snapshot: StatusSnapshot,
  paint: Paint,
  width: number,
  most: number,
): string[] {
  const asked = new Set(openQuestions(snapshot).map((question) => question.task_id));
  const questions = openQuestions(snapshot).map((question) => [
    wrap(`  ${question.task_id}: ${plainLine(question.text)}`, width, '    '),
    `    ${answerCommand(question)}`,
  ]);
  const others = snapshot.tasks
    .filter((task) => !asked.has(task.id))
    .map((task) => decisionLines(task, width))
    .filter((said) => said.length > 0);
  const lines = few([...questions, ...others], most, (said) => said);
  return lines.length === 0 ? [] : [paint('yellow', 'Needs you:'), ...lines];
}

/** The actions that the user can take on a waiting task. */
function decisionLines(task: TaskView, width: number): string[] {
  if (task.status === 'conflict') {
    const files = task.conflict_files.map(plainLine).join(', ');
    return [
      wrap(`  ${task.id}: conflict in ${files || 'its changes'}`, width, '    '),
      `    drover diff ${task.id}   (then: drover retry ${task.id})`,
    ];
  }
  if (task.status !== 'needs_review') return [];
  const held = task.held_files.map(plainLine).join(', ');
  if (task.review_kind === 'plan') {
    return [
      wrap(`  ${task.id}: waits for you to approve its plan`, width, '    '),
      `    drover show ${task.id}`,
      `    drover approve ${task.id}   (or: drover send-back ${task.id} "…")`,
    ];
  }
  const kind = plainLine(task.review_kind ?? 'review').replaceAll('_', ' ');
  const what = held === '' ? kind : `${kind}: ${held}`;
  return [
    wrap(`  ${task.id}: ${what}`, width, '    '),
    ...heldCause(task).map((cause) => wrap(`    ${cause}`, width, '    ')),
    `    drover diff ${task.id}`,
    `    drover approve ${task.id}   (or: drover send-back ${task.id} "…")`,
    ...(hasIgnoredResults(task)
      ? [`    drover approve ${task.id} --with-ignored   (also lands these ignored files)`]
      : []),
  ];
}

/**
 * For held files, the verdict names each file's cause and remedy. For other reviews it is the
 * summary.
 */
function heldCause({ review_kind: kind, verdict_reason: reason }: TaskView): readonly string[] {
  const isCause = kind === 'held_files' || kind === 'protected' || kind === 'unmerged';
  return isCause && reason !== null ? [plainLine(reason)] : [];
}
