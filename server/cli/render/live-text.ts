// The live view of a run as text: the tree and, below it, the run's state.

import { countsLine, outcomePercent } from '../../core/plan/outcome-words.ts';
import { etaMs, medianMs } from '../../core/plan/schedule.ts';
import type { EventView, StatusSnapshot } from '../../protocol/api.ts';
import { plainLine } from '../plain-text.ts';
import { costText, durationText, progressBar } from './figures.ts';
import { fit, wrap } from './fit.ts';
import { createPaint } from './style.ts';
import {
  answerCommand,
  countsOfBoard,
  noTasks,
  openQuestions,
  targetLine,
  totalCost,
} from './summary.ts';
import { isRunning } from './task-facts.ts';
import { treeLines } from './tree.ts';
import type { GraphNode } from '../../core/plan/graph-edges.ts';

export interface LiveTextOptions {
  readonly width: number;
  readonly rows: number;
  readonly color: boolean;
  readonly nowMs: number;
  readonly durationsMs: readonly number[];
  /** The last notice about the run, or null. */
  readonly notice: string | null;
}

const questionsMax = 3;
const barWidth = 24;

export function liveText(snapshot: StatusSnapshot, options: LiveTextOptions): string {
  const { width, rows, nowMs } = options;
  const paint = createPaint(options.color);
  const footer = footerLines(snapshot, options).map((line) => fit(line, width));
  // One row is left for the cursor and one between tree and footer.
  const rowsMax = Math.max(3, rows - footer.length - 2);
  const tree = treeLines(snapshot, { width, paint, nowMs, rowsMax });
  return [...tree, '', ...footer].join('\n');
}

function footerLines(snapshot: StatusSnapshot, options: LiveTextOptions): string[] {
  const { run } = snapshot;
  const { nowMs } = options;
  const counts = countsOfBoard(snapshot);
  const percent = outcomePercent(counts);
  const facts = [`${progressBar(percent, barWidth)} ${percent} %`];
  if (run !== null) facts.push(durationText(nowMs / 1000 - run.started_at));
  const cost = costText(totalCost(snapshot));
  if (cost !== '') facts.push(cost);
  const eta = etaText(snapshot, options);
  if (eta !== '') facts.push(eta);
  const empty = noTasks(snapshot);
  if (empty !== null) return [empty, ...(options.notice === null ? [] : [options.notice])];
  const lines = [facts.join('  '), ...wrap(countsLine(snapshot.tasks), options.width).split('\n')];
  const target = targetLine(snapshot);
  if (target !== null && (snapshot.target?.pending ?? 0) > 0) lines.push(target);
  const questions = openQuestions(snapshot);
  for (const question of questions.slice(0, questionsMax)) {
    lines.push(`? ${question.task_id}: ${plainLine(question.text)}`);
    lines.push(`  ${answerCommand(question)}`);
  }
  if (questions.length > questionsMax) {
    lines.push(`? and ${questions.length - questionsMax} more: drover status`);
  }
  if (options.notice !== null) lines.push(options.notice);
  return lines;
}

function etaText(snapshot: StatusSnapshot, { nowMs, durationsMs }: LiveTextOptions): string {
  if (snapshot.run === null || !snapshot.run.active) return '';
  const movable = new Set(['ready', 'claimed', 'in_progress', 'blocked']);
  const stuck = new Set(snapshot.stuck.map((each) => each.id));
  const tasks = snapshot.tasks.filter((task) => movable.has(task.status) && !stuck.has(task.id));
  const remaining: GraphNode[] = tasks.map((task, sequence) => ({
    id: task.id,
    blockedBy: task.waits_for,
    parentId: task.parent_id,
    sequence,
  }));
  const running = tasks.filter((task) => isRunning(task) && task.started_at !== null);
  const left = etaMs({
    remaining,
    medianMs: medianMs(durationsMs),
    workers: snapshot.run.workers,
    elapsedMs: new Map(running.map((task) => [task.id, nowMs - (task.started_at ?? 0) * 1000])),
  });
  return left === null || left < 1000 ? '' : `about ${durationText(left / 1000)} left`;
}

/**
 * Durations of finished tasks, computed from the feed: from the start of an attempt to its
 * completion.
 */
export class DurationBook {
  readonly #startedAtMs = new Map<string, number>();
  readonly #durationsMs: number[] = [];

  learn(events: readonly EventView[]): void {
    for (const { type, task_id: id, at_ms: atMs } of events) {
      if (id === null) continue;
      if (type === 'task.claimed' || type === 'task.started') this.#startedAtMs.set(id, atMs);
      const startedAtMs = this.#startedAtMs.get(id);
      if (type !== 'task.completed' || startedAtMs === undefined) continue;
      this.#startedAtMs.delete(id);
      this.#durationsMs.push(atMs - startedAtMs);
      if (this.#durationsMs.length > durationsMax) this.#durationsMs.shift();
    }
  }

  get all(): readonly number[] {
    return this.#durationsMs;
  }
}

const durationsMax = 200;
