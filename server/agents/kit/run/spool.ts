// Copies an agent's raw output files to its log, and keeps them small while the agent continues to
// write.

import { existsSync, truncateSync } from 'node:fs';
import type { AgentProcess } from '../../port.ts';
import type { EventLog } from '../log/event-log.ts';
import { fileSize } from '../log/event-log-files.ts';
import { FileFollower } from '../log/follow-file.ts';
import { freeze, thaw } from '../process/process-table.ts';
import type { RunFiles } from '../log/run-files.ts';

export type OutputStream = 'stdout' | 'stderr';

export interface SpoolOptions {
  readonly runId: string;
  readonly process: AgentProcess;
  readonly files: RunFiles;
  readonly log: EventLog;
  readonly onLine: (stream: OutputStream, line: string) => void;
  /** A raw file that has grown beyond this is emptied. */
  readonly emptyAtBytes?: number | undefined;
}

const emptyAtBytesDefault = 16 * 1024 * 1024;
const pendingBytesMax = 1024 * 1024;
const streams = ['stdout', 'stderr'] as const;

/**
 * Starts at the log's marks, so that a backend that follows a dead one neither repeats nor misses a
 * line.
 */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #followers = new Map<OutputStream, FileFollower>();
  #emptyAtBytes: number;
  #emptying: Promise<void> | null = null;
  #isFinishing = false;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#emptyAtBytes = options.emptyAtBytes ?? emptyAtBytesDefault;
    for (const stream of streams) {
      if (existsSync(options.files[stream])) this.#followers.set(stream, this.#follow(stream));
    }
  }

  /** Reads the rest, including an incomplete last line, and stops. The agent has ended. */
  async finish(): Promise<void> {
    this.#isFinishing = true;
    await this.#emptying;
    for (const follower of this.#followers.values()) await follower.finish();
    await this.#options.log.flush();
  }

  stop(): void {
    this.#isFinishing = true;
    for (const follower of this.#followers.values()) follower.stop();
  }

  #follow(stream: OutputStream): FileFollower {
    const { files, log, onLine } = this.#options;
    const path = files[stream];
    // The file was emptied but the mark was not stored. The agent was frozen then, so nothing was
    // added since.
    const fromOffset = log.marks[stream] > fileSize(path) ? 0 : log.marks[stream];
    return new FileFollower({
      path,
      fromOffset,
      onLine: (line, nextOffset) => {
        onLine(stream, line);
        log.mark({ [stream]: nextOffset });
      },
      afterPiece: async () => {
        if (log.pendingBytes > pendingBytesMax) await log.flush();
        // Decided by the file's size and not by the part that was read, because output may be
        // written faster than it is read.
        const isLarge = streams.some((one) => fileSize(files[one]) > this.#emptyAtBytes);
        if (!isLarge || this.#isFinishing) return;
        this.#emptying ??= this.#empty().finally(() => (this.#emptying = null));
      },
    });
  }

  async #empty(): Promise<void> {
    const { files, log, runId, process } = this.#options;
    const frozen = await freeze(runId, process);
    if (frozen === null) {
      this.#emptyAtBytes *= 2; // better a large file than a lost line
      return;
    }
    try {
      for (const follower of this.#followers.values()) await follower.drain();
      await log.flush(); // the only other copy
      for (const [stream, follower] of this.#followers) {
        truncateSync(files[stream], 0);
        follower.rewind();
        log.mark({ [stream]: 0 });
      }
      await log.flush();
    } finally {
      thaw(runId, frozen);
    }
  }
}
