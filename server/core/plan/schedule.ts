// Decides which ready task starts next, and estimates when everything is done.

import { criticalPath } from './graph.ts';
import type { GraphNode } from './graph-edges.ts';

/** Returns the median duration, or null if the list is empty. */
export function medianMs(durationsMs: readonly number[]): number | null {
  if (durationsMs.length === 0) return null;
  const sorted = durationsMs.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}

export interface EtaInput {
  /**
   * Tasks that are not done. Excludes failed and canceled tasks, which will not run. Blockers
   * outside of this list count as done.
   */
  readonly remaining: readonly GraphNode[];
  /** Median duration of finished tasks; null if none has finished. */
  readonly medianMs: number | null;
  readonly workers: number;
  /** How long each running task has been running, by id. */
  readonly elapsedMs?: ReadonlyMap<string, number>;
}

/**
 * A lower bound for the time until all remaining tasks are done: the longest chain, or the total
 * work divided by the workers, whichever is longer. Returns null if no durations are known.
 */
export function etaMs(input: EtaInput): number | null {
  if (input.remaining.length === 0) return 0;
  const median = input.medianMs;
  if (median === null) return null;
  const weights = new Map<string, number>();
  let sum = 0;
  for (const node of input.remaining) {
    // Sub-tasks run inside their parent's attempt, and the median is for whole attempts.
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
 * How many tasks may wait for their landing while others still start. Tasks that start far ahead of
 * the gate have older bases, and compete with landings for the same resources. With one worker,
 * tasks run and land one after another, so they cannot conflict.
 */
export function landingsWaitingMax(workers: number): number {
  if (workers === 1) return 1;
  return Math.max(landingsMin, workers * landingsPerWorkerMax);
}
