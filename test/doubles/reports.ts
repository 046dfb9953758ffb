// Reports and lists of runs for tests of their views: a run of two workers with a failure, and a
// run of any size.

import { makeReport, type Report, type ReportBoard } from '../../server/core/history/report.ts';
import type { RunLine, RunList } from '../../server/core/history/run-list.ts';
import { countOutcomes, type TaskOutcome } from '../../server/core/plan/outcome.ts';
import { runList } from '../../server/core/history/run-list.ts';
import { StoryTeller } from '../../server/core/history/stories.ts';
import { buildWindows } from '../../server/core/history/windows.ts';
import { added, fails, feed, lands, type Line } from '../unit/core/history/feed.ts';

const beganMs = Date.UTC(2026, 0, 2, 9, 0, 0);
const minuteMs = 60_000;

/** `parse`, then `print`, and `check`, which fails twice; times are in minutes. */
export function smallRun(): Report {
  const at = (...minutes: readonly number[]): number[] =>
    minutes.map((minute) => beganMs + minute * minuteMs);
  return reportOf([
    titled('parse', 'Write the parser', []),
    titled('check', 'Check types', []),
    titled('print', 'Print the tree', ['parse']),
    [beganMs, 'run.started', null, { run: 'run-1', workers: 2, target: 'main' }],
    ...lands('parse', at(0.1, 0.6, 9, 10.5)),
    ...fails('check', at(0.1, 0.5, 6)),
    [beganMs + 10.5 * minuteMs, 'task.unblocked', 'print', { status: 'ready', by: 'parse' }],
    ...fails('check', at(6.5, 7, 14), 2),
    gate(11, true),
    ...lands('print', at(10.505, 11, 20, 22)),
    gate(22, true),
    gate(14, false),
    [beganMs + 15 * minuteMs, 'task.failed', 'check', { status: 'failed', error: 'exit code 1' }],
    [beganMs + 23 * minuteMs, 'run.finished', null, { state: 'finished' }],
  ]);
}

/** This many attempts of one minute each, by 16 workers. */
export function largeRun(count: number): Report {
  const workers = 16;
  const lines: Line[] = [[beganMs, 'run.started', null, { run: 'run-1', workers, target: 'main' }]];
  for (let index = 0; index < count; index += 1) {
    const id = `task-${index}`;
    const start = beganMs + Math.floor(index / workers) * minuteMs + (index % workers) * 100;
    lines.push(added(start, id));
    lines.push(...lands(id, [start, start + 5_000, start + 50_000, start + 59_000]));
  }
  const endMs = beganMs + (Math.floor(count / workers) + 2) * minuteMs;
  return reportOf([...lines, [endMs, 'run.finished', null, { state: 'finished' }]]);
}

/** This many runs, newest first. */
export function runLines(count: number): RunList {
  const runs = Array.from({ length: count }, (_, index): RunLine => {
    const startMs = beganMs - index * 3_600_000;
    return {
      id: `run-${index + 1}`,
      epic_id: index % 3 === 2 ? null : 'syntax',
      epic_title: index % 3 === 2 ? null : 'A language',
      tasks: null,
      state: index === 4 ? 'stopped' : 'finished',
      target: 'main',
      workers: 2,
      started_at_ms: startMs,
      ended_at_ms: startMs + 23 * minuteMs,
      duration_ms: 23 * minuteMs,
      ...figuresOfRun(index),
      attempts: 4,
      usd: 1.5 + index / 10,
      match: null,
    };
  });
  return { runs, found: count };
}

export function reportOf(lines: readonly Line[]): Report {
  const stories = storiesOf(lines);
  const usage = usageOf(stories);
  return makeReport(
    stories,
    {
      kind: 'run',
      id: 'run-1',
      title: 'A language',
      state: stories.runs.get('run-1')?.state ?? 'active',
      windows: buildWindows(stories.runs.values(), stories.lastMs),
      taskIds: [...stories.tasks.keys()],
    },
    usage,
    boardOfStories(stories),
  );
}

function figuresOfRun(index: number): Pick<RunLine, 'counts' | 'failed' | 'landed' | 'open'> {
  const [landed, failed, open] = [
    2 + (index % 5),
    index % 2 === 0 ? 1 : 0,
    index % 4 === 1 ? 2 : 0,
  ];
  const outcomes: readonly TaskOutcome[] = [
    ...Array.from({ length: landed }, () => 'landed' as const),
    ...Array.from({ length: failed }, () => 'failed' as const),
    ...Array.from({ length: open }, () => 'queued' as const),
  ];
  return { counts: countOutcomes(outcomes), landed, failed, open };
}

/** The rows that the store would have after these events. */
export function boardOfStories({ tasks }: Pick<StoryTeller, 'tasks'>): ReportBoard {
  return {
    questions: [],
    epics: [],
    tasks: [...tasks.values()].map((task) => ({
      id: task.id,
      title: task.title,
      epic_id: task.epicId,
      parent_id: task.parentId,
      candidate_of: null,
      status: task.status,
      phase: null,
      blocked_reason: null,
      block: null,
      review_kind: null,
      landed_on: task.landedOn,
      landed_sha: task.landedSha,
    })),
  };
}

export function runsOf(lines: readonly Line[], search = '', max = 100): RunList {
  const stories = storiesOf(lines);
  const epicTitles = new Map([['epic-1', 'A language']]);
  return runList(stories, usageOf(stories), {
    search,
    max,
    nowMs: stories.lastMs,
    epicTitles,
    asked: new Map(),
    board: boardOfStories(stories),
  });
}

function storiesOf(lines: readonly Line[]): StoryTeller {
  const stories = new StoryTeller();
  for (const event of feed(lines)) stories.take(event);
  return stories;
}

function usageOf(stories: StoryTeller): Parameters<typeof makeReport>[2] {
  return [...stories.tasks.values()].flatMap((task) =>
    task.attempts.map(({ number }) => ({
      task_id: task.id,
      number,
      agent: number === 1 ? 'claude' : 'codex',
      model: number === 1 ? 'opus' : null,
      input_tokens: 12_000,
      output_tokens: 900,
      cost_usd: 0.5,
    })),
  );
}

function titled(id: string, title: string, blockers: readonly string[]): Line {
  const [, type, task, data] = added(beganMs - minuteMs, id, blockers);
  return [beganMs - minuteMs, type, task, { ...data, title }];
}

function gate(minute: number, isGreen: boolean): Line {
  const type = isGreen ? 'gate.passed' : 'gate.failed';
  return [beganMs + minute * minuteMs, type, null, { duration_ms: 30_000, command: 'npm test' }];
}
