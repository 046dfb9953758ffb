// Decides whether the host can run one more agent, from free memory, free disk space and load,
// compared with the user's limits.

import { formatBytes } from '../format.ts';

export interface HostFacts {
  readonly freeMemoryBytes: number;
  /** Free space on the disk with the worktrees; null if unknown. */
  readonly freeDiskBytes: number | null;
  /** Average number of runnable processes over the last minute. */
  readonly load: number;
  readonly cores: number;
}

export interface HostLimits {
  readonly minFreeMemoryBytes: number;
  readonly minFreeDiskBytes: number;
  /** Maximum load per core; 0 = no limit. */
  readonly maxLoad: number;
  /** Maximum size of all worktrees together; null = no limit. */
  readonly worktreesMaxBytes: number | null;
}

/**
 * A sentence that says why no agent may start, or null. A full disk stops all new agents. With
 * little memory or high load, one agent may still run; otherwise other programs on the host could
 * stop all work.
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
