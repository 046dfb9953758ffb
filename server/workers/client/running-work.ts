// Copies the work of a running job to the worktree from time to time, so that it is not lost with
// its worker. It removes nothing, and failures do not matter, because the final result counts.

import { mkdirSync, rmSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { importResult } from './import-result.ts';
import type { SentEntry } from './pack.ts';
import type { WorkerAddress } from './request.ts';
import { resultCaps, unpackResult, type ResultCaps } from './unpack.ts';
import { openDownload } from './worker-calls.ts';

export interface RunningWork {
  readonly root: string;
  readonly submodules: readonly string[];
  readonly ignored: (paths: readonly string[]) => Promise<ReadonlySet<string>>;
  /** A folder that is used only for these results. */
  readonly scratch: string;
  readonly sent: ReadonlyMap<string, SentEntry>;
  readonly everyMs: number;
  readonly caps?: ResultCaps;
}

/** The maximum share of time spent downloading, so a large tree is copied less often. */
const shareMax = 0.1;

export interface RunningSnapshots {
  /**
   * Stops copying. Returns the entries sent so far. Files that the worktree got since the upload
   * count as sent.
   */
  stop(): Promise<ReadonlyMap<string, SentEntry>>;
}

export function followWork(worker: WorkerAddress, work: RunningWork): RunningSnapshots {
  const over = new AbortController();
  let sent = work.sent;
  const looking = (async (): Promise<void> => {
    let waitMs = work.everyMs;
    while (!over.signal.aborted) {
      await delay(waitMs, null, { signal: over.signal }).catch(() => null);
      if (over.signal.aborted) return;
      const startedAt = performance.now();
      sent = await snapshot(worker, { ...work, sent }, over.signal);
      waitMs = Math.max(work.everyMs, (performance.now() - startedAt) / shareMax);
    }
  })();
  return {
    stop: async () => {
      over.abort();
      await looking.catch(() => undefined);
      rmSync(work.scratch, { recursive: true, force: true });
      return sent;
    },
  };
}

async function snapshot(
  worker: WorkerAddress,
  work: RunningWork,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, SentEntry>> {
  const { root, submodules, ignored, scratch, sent } = work;
  const archive = await openDownload(worker, signal);
  if (!archive.ok) return sent;
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true, mode: 0o700 });
  const result = await unpackResult(archive.value, scratch, work.caps ?? resultCaps, sent);
  if (!result.ok || signal.aborted) return sent;
  // The job still runs, so an earlier list of hashes proves nothing.
  const running = { ...result.value, isComplete: false, notices: [] };
  const imported = await importResult({ root, submodules, ignored, sent, result: running });
  return new Map([...sent, ...imported.taken]);
}
