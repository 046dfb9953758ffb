// Finds the chain of tasks that determined the end time: each could not start before the previous
// one landed or freed a slot.

import type { PeriodKind, TaskStory } from './task-story.ts';
import { clippedMs, type Window } from './windows.ts';

export interface PathStep {
  readonly task_id: string;
  readonly title: string;
  /** Start of its first attempt inside the windows. */
  readonly started_at_ms: number;
  readonly ended_at_ms: number;
  /** Milliseconds between start and end by kind of activity. */
  readonly time: { readonly [K in PeriodKind]?: number };
  /** The task that delayed its start; null for the first step. */
  readonly after: { readonly kind: 'blocker' | 'slot'; readonly task_id: string } | null;
}

interface Leg {
  readonly task: TaskStory;
  readonly startMs: number;
  readonly endMs: number;
}

const stepsMax = 1_000;

/** First task first. Empty if no task has ended. */
export function criticalPath(
  tasks: readonly TaskStory[],
  windows: readonly Window[],
): readonly PathStep[] {
  const legs = tasks.flatMap((task) => legOf(task, windows) ?? []);
  const steps: PathStep[] = [];
  const seen = new Set<string>();
  let current = legs.reduce<Leg | null>(
    (last, leg) => (last === null || leg.endMs > last.endMs ? leg : last),
    null,
  );
  while (current !== null && steps.length < stepsMax) {
    seen.add(current.task.id);
    const before: Before | null = whatHeld(current, legs, windows);
    const isNew = before !== null && !seen.has(before.leg.task.id);
    steps.push(stepOf(current, isNew ? before : null));
    current = isNew ? before.leg : null;
  }
  return steps.toReversed();
}

function legOf(task: TaskStory, windows: readonly Window[]): Leg | null {
  const first = windows[0];
  const last = windows.at(-1);
  if (first === undefined || last === undefined) return null;
  const startMs = task.attempts.find(
    (attempt) => (attempt.endMs ?? Infinity) > first.startMs && attempt.startMs <= last.endMs,
  )?.startMs;
  const endMs = task.landedMs ?? task.attempts.at(-1)?.endMs ?? null;
  if (startMs === undefined || endMs === null || task.status === 'cancelled') return null;
  if (endMs < first.startMs || endMs > last.endMs) return null;
  return { task, startMs: Math.max(startMs, first.startMs), endMs };
}

interface Before {
  readonly kind: 'blocker' | 'slot';
  readonly leg: Leg;
}

/** Shorter waits for a slot are caused by the dispatcher itself. */
const slotWaitMinMs = 500;

function whatHeld(leg: Leg, legs: readonly Leg[], windows: readonly Window[]): Before | null {
  const waits = leg.task.periods.filter((period) => (period.endMs ?? Infinity) <= leg.startMs);
  const queued = waits.findLast((period) => period.kind === 'queued');
  const blocked = waits.findLast((period) => period.kind === 'blocked');
  if (queued !== undefined && clippedMs(queued, windows) >= slotWaitMinMs) {
    // The slot was freed by the last task that ended before this one was claimed.
    const freed = legs
      .filter((other) => other.task !== leg.task)
      .filter(({ endMs }) => endMs >= queued.startMs && endMs <= leg.startMs)
      .reduce<Leg | null>(
        (last, one) => (last === null || one.endMs > last.endMs ? one : last),
        null,
      );
    if (freed !== null) return { kind: 'slot', leg: freed };
  }
  const blocker =
    blocked === undefined ? undefined : legs.find((other) => blocked.on.includes(other.task.id));
  return blocker === undefined ? null : { kind: 'blocker', leg: blocker };
}

function stepOf({ task, startMs, endMs }: Leg, before: Before | null): PathStep {
  const time: { [K in PeriodKind]?: number } = {};
  for (const period of task.periods) {
    const ms = clippedMs(period, [{ startMs, endMs }]);
    if (ms > 0) time[period.kind] = (time[period.kind] ?? 0) + ms;
  }
  return {
    task_id: task.id,
    title: task.title,
    started_at_ms: startMs,
    ended_at_ms: endMs,
    time,
    after: before === null ? null : { kind: before.kind, task_id: before.leg.task.id },
  };
}
