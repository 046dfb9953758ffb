// The layout of a run's timeline: the row of each attempt, and the marks of the time axis. Pure.

import type { Report } from '../../server/core/history/report.ts';
import type { ReportAttempt } from '../../server/core/history/report-attempts.ts';

export interface TimelineBar {
  readonly attempt: ReportAttempt;
  /** Row of the timeline, from 0: attempts that run at the same time are in different rows. */
  readonly lane: number;
  /** True if its task is on the critical path, and this attempt is the one that ended it. */
  readonly isCritical: boolean;
}

export interface Tick {
  /** Milliseconds after the start of the timeline. */
  readonly afterMs: number;
  readonly label: string;
}

export interface Timeline {
  readonly bars: readonly TimelineBar[];
  readonly lanes: number;
  /** Unix milliseconds. */
  readonly startMs: number;
  readonly lengthMs: number;
  readonly ticks: readonly Tick[];
}

/** Returns null if the run has no attempts. */
export function buildTimeline(report: Report): Timeline | null {
  const startMs = report.windows[0]?.started_at_ms;
  if (startMs === undefined || report.attempts.length === 0) return null;
  const endMs = report.attempts.reduce(
    (last, { ended_at_ms }) => Math.max(last, ended_at_ms),
    report.windows.at(-1)?.ended_at_ms ?? startMs,
  );
  const critical = new Set(report.critical_path.map(({ task_id: id }) => id));
  const last = new Map(report.attempts.map(({ task_id: id, attempt }) => [id, attempt]));
  const freeAtMs: number[] = [];
  const bars = report.attempts.map((attempt) => {
    const free = freeAtMs.findIndex((atMs) => atMs <= attempt.started_at_ms);
    const lane = free === -1 ? freeAtMs.length : free;
    freeAtMs[lane] = attempt.ended_at_ms;
    const isLast = last.get(attempt.task_id) === attempt.attempt;
    return { attempt, lane, isCritical: isLast && critical.has(attempt.task_id) };
  });
  const lengthMs = Math.max(1, endMs - startMs);
  return { bars, lanes: freeAtMs.length, startMs, lengthMs, ticks: listTicks(lengthMs) };
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const stepsMs = [
  ...[0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30].map((value) => value * second),
  ...[1, 2, 5, 10, 15, 30].map((value) => value * minute),
  ...[1, 2, 4, 8, 12, 24, 48, 168].map((value) => value * hour),
];
const ticksMax = 9;

/** At most nine marks at round times. */
export function listTicks(lengthMs: number): readonly Tick[] {
  const stepMs = stepsMs.find((step) => lengthMs / step <= ticksMax) ?? lengthMs / ticksMax;
  const count = Math.floor(lengthMs / stepMs);
  return Array.from({ length: count + 1 }, (_, index) => {
    const afterMs = Math.round(index * stepMs);
    return { afterMs, label: tickLabel(afterMs, stepMs) };
  });
}

function tickLabel(afterMs: number, stepMs: number): string {
  if (afterMs === 0) return '0';
  if (stepMs < second) return `${(afterMs / second).toFixed(1)} s`;
  if (afterMs < minute) return `${Math.round(afterMs / second)} s`;
  const two = (value: number): string => String(value).padStart(2, '0');
  if (afterMs < hour) {
    return `${Math.floor(afterMs / minute)}:${two(Math.round((afterMs % minute) / second))} min`;
  }
  return `${Math.floor(afterMs / hour)}:${two(Math.floor((afterMs % hour) / minute))} h`;
}

export type Step = 'left' | 'right' | 'up' | 'down' | 'first' | 'last';

/**
 * The bar that a key leads to: the next one in time, or the nearest one in the row above or below.
 */
export function nextBarIndex(bars: readonly TimelineBar[], from: number, step: Step): number {
  const present = bars[from];
  switch (step) {
    case 'left':
      return Math.max(0, from - 1);
    case 'right':
      return Math.min(bars.length - 1, from + 1);
    case 'first':
      return 0;
    case 'last':
      return bars.length - 1;
    case 'up':
    case 'down': {
      if (present === undefined) return from;
      const lane = present.lane + (step === 'up' ? -1 : 1);
      const middle = middleOf(present);
      let nearest = from;
      let distance = Infinity;
      for (const [index, bar] of bars.entries()) {
        const away = Math.abs(middleOf(bar) - middle);
        if (bar.lane !== lane || away >= distance) continue;
        nearest = index;
        distance = away;
      }
      return nearest;
    }
  }
}

function middleOf({ attempt }: TimelineBar): number {
  return (attempt.started_at_ms + attempt.ended_at_ms) / 2;
}
