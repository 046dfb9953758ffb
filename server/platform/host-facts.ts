// The host's free resources for one more agent, read when a task is about to start.

import { statfsSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { dirname } from 'node:path';
import type { HostFacts } from '../core/work/host-limits.ts';

export function hostFacts(folder: string): () => HostFacts {
  return () => ({
    // Includes memory that the system could reclaim, and a container's limit.
    freeMemoryBytes: process.availableMemory(),
    freeDiskBytes: freeBytes(folder),
    load: loadavg()[0] ?? 0,
    cores: availableParallelism(),
  });
}

/** The folder need not exist yet. */
export function freeBytes(folder: string): number | null {
  for (let at = folder; ; at = dirname(at)) {
    try {
      const { bavail, bsize } = statfsSync(at);
      return bavail * bsize;
    } catch {
      if (dirname(at) === at) return null;
    }
  }
}
