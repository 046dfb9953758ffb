// Lists all runs of a project, newest first, one line each. A search covers their tasks. Pure.

import {
  type CountedBoard,
  countCompleted,
  countOutcomes,
  countOpen,
  type OutcomeCounts,
  outcomesOfTasks,
} from '../plan/outcome.ts';
import { type AskedTasks, tasksInRun } from './run-scope.ts';
import type { RunStory, Stories } from './stories.ts';
import type { TaskStory } from './task-story.ts';
import { searchWords } from './search-words.ts';
import { type Window, buildWindows } from './windows.ts';
import type { AttemptUsage } from './run-usage.ts';

export interface RunLine {
  readonly id: string;
  readonly epic_id: string | null;
  /** The epic's title; null for a run of all tasks. */
  readonly epic_title: string | null;
  /** Number of single tasks that it was started for; null if it runs a whole epic or project. */
  readonly tasks: number | null;
  /** `active`, `stopped` or `finished`. */
  readonly state: string;
  readonly target: string | null;
  readonly workers: number | null;
  /** How its work lands: `task`, `epic` or `review`. Absent in an older backend. */
  readonly land?: string | null;
  /** Unix milliseconds. `ended_at_ms` is null while the run is active. */
  readonly started_at_ms: number;
  readonly ended_at_ms: number | null;
  /** The time during which it was active. */
  readonly duration_ms: number;
  /** Outcomes of its tasks so far, counted as in its report. */
  readonly counts: OutcomeCounts;
  /** Number of completed tasks. */
  readonly landed: number;
  readonly failed: number;
  /** Number of tasks that are neither completed nor canceled. */
  readonly open: number;
  readonly attempts: number;
  readonly usd: number;
  /** The text that contains the search words: a task's title or an error. Null without a search. */
  readonly match: string | null;
}

export interface RunListOptions {
  readonly search: string;
  readonly max: number;
  readonly nowMs: number;
  /** Titles of epics by id. */
  readonly epicTitles: ReadonlyMap<string, string>;
  readonly asked: AskedTasks;
  readonly board: CountedBoard;
}

export interface RunList {
  readonly runs: readonly RunLine[];
  /** Number of matching runs. Can exceed the number of listed runs, which is limited. */
  readonly found: number;
}

interface Worked {
  readonly task: TaskStory;
  readonly attempts: TaskStory['attempts'];
}

export function runList(
  stories: Stories,
  usage: readonly AttemptUsage[],
  request: RunListOptions,
): RunList {
  const worked = workedOn(stories);
  const costs = new Map(usage.map((each) => [`${each.task_id} ${each.number}`, each.cost_usd]));
  const words = searchWords(request.search);
  const outcomes = outcomesOfTasks(request.board);
  const lines: RunLine[] = [];
  let found = 0;
  for (const run of newestFirst(stories)) {
    const own = worked.get(run.id) ?? [];
    const match = words.length === 0 ? null : matchOf(run, own, words, request.epicTitles);
    if (words.length > 0 && match === null) continue;
    found += 1;
    if (lines.length >= request.max) continue;
    const windows = buildWindows([run], request.nowMs);
    const tasks = tasksInRun(stories, run, windows, request.asked);
    const counts = countOutcomes(tasks.flatMap(({ id }) => outcomes.get(id) ?? []));
    lines.push(lineOf(run, { own, costs, match, windows, counts }, request));
  }
  return { runs: lines, found };
}

/** Runs that were active at some time. */
export function newestFirst({ runs }: Pick<Stories, 'runs'>): readonly RunStory[] {
  return [...runs.values()].filter(({ windows }) => windows.length > 0).reverse();
}

function workedOn(stories: Stories): ReadonlyMap<string, readonly Worked[]> {
  const byRun = new Map<string, Worked[]>();
  for (const task of stories.tasks.values()) {
    // A sub-task is part of its parent's attempt.
    if (task.parentId !== null) continue;
    for (const [id, attempts] of Map.groupBy(task.attempts, ({ runId }) => runId)) {
      if (id === null) continue;
      const present = byRun.get(id);
      if (present === undefined) byRun.set(id, [{ task, attempts }]);
      else present.push({ task, attempts });
    }
  }
  return byRun;
}

interface LineFacts {
  readonly own: readonly Worked[];
  readonly costs: ReadonlyMap<string, number>;
  readonly match: string | null;
  readonly windows: readonly Window[];
  readonly counts: OutcomeCounts;
}

function lineOf(
  run: RunStory,
  { own, costs, match, windows, counts }: LineFacts,
  { nowMs, epicTitles }: RunListOptions,
): RunLine {
  const startMs = windows[0]?.startMs ?? nowMs;
  const endMs = windows.at(-1)?.endMs ?? nowMs;
  const attempts = own.flatMap(({ task, attempts: some }) =>
    some.map(({ number }) => `${task.id} ${number}`),
  );
  return {
    id: run.id,
    epic_id: run.epicId,
    epic_title: run.epicId === null ? null : (epicTitles.get(run.epicId) ?? run.epicId),
    tasks: run.tasks,
    state: run.state,
    target: run.target,
    workers: run.workers,
    land: run.land,
    started_at_ms: startMs,
    ended_at_ms: run.state === 'active' ? null : endMs,
    duration_ms: windows.reduce((sum, window) => sum + window.endMs - window.startMs, 0),
    counts,
    landed: countCompleted(counts),
    failed: counts.failed,
    open: countOpen(counts) + counts.running + counts.waits,
    attempts: attempts.length,
    usd: attempts.reduce((sum, key) => sum + (costs.get(key) ?? 0), 0),
    match,
  };
}

/**
 * Returns the first text that contains the first search word, or null if any word is missing from
 * the run.
 */
function matchOf(
  run: RunStory,
  own: readonly Worked[],
  words: readonly string[],
  epicTitles: ReadonlyMap<string, string>,
): string | null {
  const texts = [
    run.id,
    run.target ?? '',
    run.epicId ?? '',
    epicTitles.get(run.epicId ?? '') ?? '',
    ...own.flatMap(({ task, attempts }) => [
      task.title,
      task.id,
      task.landedSha ?? '',
      ...attempts.flatMap(({ agent, error }) => [agent ?? '', error ?? '']),
    ]),
  ];
  const lower = texts.map((text) => text.toLowerCase());
  const isThere = words.every((word) => lower.some((text) => text.includes(word)));
  const at = lower.findIndex((text) => text.includes(words[0] ?? ''));
  return isThere ? (texts[at] ?? '') : null;
}
