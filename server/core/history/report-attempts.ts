// Lists the attempts of a run or an epic for a timeline: when each ran, its parts, and how it
// ended. Pure.

import type { AttemptStory, PeriodKind, TaskStory } from './task-story.ts';
import { overlaps, type Window } from './windows.ts';
import type { AttemptUsage } from './run-usage.ts';

export interface AttemptPart {
  readonly kind: PeriodKind;
  readonly started_at_ms: number;
  readonly ended_at_ms: number;
}

export interface ReportAttempt {
  readonly task_id: string;
  readonly title: string;
  readonly attempt: number;
  readonly agent: string | null;
  readonly model: string | null;
  /** Unix milliseconds, clipped to the report's windows. */
  readonly started_at_ms: number;
  readonly ended_at_ms: number;
  /** The task's state after the attempt; null while the attempt runs. */
  readonly outcome: string | null;
  readonly usd: number;
  /** In order of time. A question overlaps the part in which it was asked. */
  readonly parts: readonly AttemptPart[];
}

/** The parts of an attempt, including waits. */
const partKinds: ReadonlySet<PeriodKind> = new Set(['setup', 'agent', 'landing', 'question']);

/**
 * Oldest first. Attempts are clipped to the start of the first window and the end of the last one.
 */
export function listReportAttempts(
  tasks: readonly TaskStory[],
  windows: readonly Window[],
  usage: readonly AttemptUsage[],
): readonly ReportAttempt[] {
  const first = windows[0];
  const last = windows.at(-1);
  if (first === undefined || last === undefined) return [];
  const whole: Window = { startMs: first.startMs, endMs: last.endMs };
  const used = new Map(usage.map((each) => [`${each.task_id} ${each.number}`, each]));
  return tasks
    .flatMap((task) =>
      task.attempts
        .filter((attempt) => overlaps(attempt, windows))
        .map((attempt) => viewOf(task, attempt, whole, used.get(`${task.id} ${attempt.number}`))),
    )
    .sort((a, b) => a.started_at_ms - b.started_at_ms);
}

function viewOf(
  task: TaskStory,
  attempt: AttemptStory,
  whole: Window,
  usage: AttemptUsage | undefined,
): ReportAttempt {
  const next = task.attempts.find(({ number }) => number > attempt.number);
  const endMs = Math.min(attempt.endMs ?? whole.endMs, next?.startMs ?? Infinity, whole.endMs);
  const startMs = Math.max(attempt.startMs, whole.startMs);
  const parts = task.periods
    .filter((period) => partKinds.has(period.kind) && period.attempt === attempt.number)
    .map((period) => ({
      kind: period.kind,
      started_at_ms: Math.max(period.startMs, startMs),
      ended_at_ms: Math.min(period.endMs ?? endMs, endMs),
    }))
    .filter((part) => part.ended_at_ms > part.started_at_ms);
  return {
    task_id: task.id,
    title: task.title,
    attempt: attempt.number,
    agent: usage?.agent ?? attempt.agent,
    model: usage?.model ?? null,
    started_at_ms: startMs,
    ended_at_ms: Math.max(startMs, endMs),
    outcome: attempt.outcome,
    usd: usage?.cost_usd ?? 0,
    parts,
  };
}
