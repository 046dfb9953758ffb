// Whether the host can take one more agent: free memory, free disk and load, compared with the
// user's limits.

import { formatBytes } from '../format.ts';

export interface HostFacts {
  readonly freeMemoryBytes: number;
  /** Free space at the worktrees; null = unknown. */
  readonly freeDiskBytes: number | null;
  /** Mean number of runnable processes over the last minute. */
  readonly load: number;
  readonly cores: number;
}

export interface HostLimits {
  readonly minFreeMemoryBytes: number;
  readonly minFreeDiskBytes: number;
  /** For each core; 0 = any load. */
  readonly maxLoad: number;
  /** For all worktrees together; null = no limit. */
  readonly worktreesMaxBytes: number | null;
}

/**
 * Why nothing new starts, as a sentence; null if it may. A full disk stops all; with little memory
 * or a high load one agent still runs, or work would stop because of other programs on this
 * machine.
 */
export function hostHold(facts: HostFacts, limits: HostLimits, busy: number): string | null {
  const { freeDiskBytes, freeMemoryBytes, load, cores } = facts;
  if (freeDiskBytes !== null && freeDiskBytes < limits.minFreeDiskBytes) {
    return sentence(
      `only ${formatBytes(freeDiskBytes)} are free on the disk of the worktrees`,
      `min_free_disk = ${formatBytes(limits.minFreeDiskBytes)}`,
    );
  }
  if (busy === 0) return null;
  if (freeMemoryBytes < limits.minFreeMemoryBytes) {
    return sentence(
      `only ${formatBytes(freeMemoryBytes)} of memory are free`,
      `min_free_memory = ${formatBytes(limits.minFreeMemoryBytes)}`,
    );
  }
  const perCore = load / Math.max(1, cores);
  if (limits.maxLoad > 0 && perCore > limits.maxLoad) {
    return sentence(`its load is ${perCore.toFixed(1)} per core`, `max_load = ${limits.maxLoad}`);
  }
  return null;
}

function sentence(what: string, setting: string): string {
  return `This machine is low on resources: ${what} ([machine] ${setting}); nothing new starts until that improves.`;
}
