// Computes when runs were active, and which part of a period lies within that time.

import type { RunStory } from './stories.ts';

export interface Window {
  /** Unix milliseconds. */
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Returns the windows of these runs in order, with overlapping ones joined. A window that is still
 * open ends at `nowMs`.
 */
export function buildWindows(runs: Iterable<RunStory>, nowMs: number): readonly Window[] {
  return joined(
    [...runs]
      .flatMap((run) => run.windows)
      .map(({ startMs, endMs }) => ({ startMs, endMs: Math.max(startMs, endMs ?? nowMs) })),
  );
}

/** Sorts the windows and joins overlapping ones. */
export function joined(windows: readonly Window[]): readonly Window[] {
  const found: { startMs: number; endMs: number }[] = [];
  for (const { startMs, endMs } of windows.toSorted((a, b) => a.startMs - b.startMs)) {
    const last = found.at(-1);
    if (last !== undefined && startMs <= last.endMs) last.endMs = Math.max(last.endMs, endMs);
    else found.push({ startMs, endMs });
  }
  return found;
}

export function isWithin(atMs: number, { startMs, endMs }: Window): boolean {
  return atMs >= startMs && atMs <= endMs;
}

/** `endMs` is null if the period has not ended. */
export function overlaps(
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number | null },
  windows: readonly Window[],
): boolean {
  return windows.some((window) => startMs <= window.endMs && (endMs ?? Infinity) > window.startMs);
}

/** Milliseconds of the period that lie inside the windows. */
export function clippedMs(
  period: { readonly startMs: number; readonly endMs: number | null },
  windows: readonly Window[],
): number {
  let sum = 0;
  for (const { startMs, endMs } of windows) {
    const from = Math.max(startMs, period.startMs);
    const to = Math.min(endMs, period.endMs ?? endMs);
    sum += Math.max(0, to - from);
  }
  return sum;
}
