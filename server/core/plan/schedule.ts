// Which ready task starts next, and when everything may be done.

import { criticalPath } from './graph.ts';
import type { GraphNode } from './graph-edges.ts';

/** Median of durations; null if the list is empty. */
export function medianMs(durationsMs: readonly number[]): number | null {
  if (durationsMs.length === 0) return null;
  const sorted = durationsMs.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

export interface EtaInput {
  /**
   * Tasks that are not done, except those that will not run (failed, cancelled). Blockers that are
   * not in the list count as done.
   */
  readonly remaining: readonly GraphNode[];
  /** Median duration of finished tasks, or null while there are none. */
  readonly medianMs: number | null;
  readonly workers: number;
  /** Time the running tasks have already had, by task id. */
  readonly elapsedMs?: ReadonlyMap<string, number>;
}

/**
 * Lower bound of the time until all remaining tasks are done: neither the longest chain nor the
 * work divided by the workers can take less. Null if no durations are known.
 */
export function etaMs(input: EtaInput): number | null {
  if (input.remaining.length === 0) return 0;
  const median = input.medianMs;
  if (median === null) return null;
  const weights = new Map<string, number>();
  let sum = 0;
  for (const node of input.remaining) {
    // Sub-tasks run inside the attempt of their parent, and the median is one of whole attempts.
    if (node.parentId !== null) continue;
    const weight = Math.max(median - (input.elapsedMs?.get(node.id) ?? 0), 0);
    weights.set(node.id, weight);
    sum += weight;
  }
  const chain = criticalPath(input.remaining, (id) => weights.get(id) ?? 0).weight;
  return Math.round(Math.max(chain, sum / Math.max(input.workers, 1)));
}

const landingsPerWorkerMax = 4;
const landingsMin = 16;

/**
 * How many tasks may wait to land while others still start. Tasks that run ahead of the gate start
 * from ever older bases, and compete with landings for the same resources. One worker runs one task
 * after the other: landings come in order, and nothing can conflict.
 */
export function landingsWaitingMax(workers: number): number {
  if (workers === 1) return 1;
  return Math.max(landingsMin, workers * landingsPerWorkerMax);
}
