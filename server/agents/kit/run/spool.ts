// Takes an agent's raw output files into its log, and keeps them small while the agent goes on
// writing.

import { existsSync, truncateSync } from 'node:fs';
import type { AgentProcess } from '../../port.ts';
import type { EventLog } from '../log/event-log.ts';
import { fileSize } from '../log/event-log-files.ts';
import { followFile, type FileFollower } from '../log/follow-file.ts';
import { freeze, thaw } from '../process/process-table.ts';
import type { RunFiles } from '../log/run-files.ts';

export type OutputStream = 'stdout' | 'stderr';

export interface SpoolOptions {
  readonly runId: string;
  readonly process: AgentProcess;
  readonly files: RunFiles;
  readonly log: EventLog;
  readonly onLine: (stream: OutputStream, line: string) => void;
  /** A raw file that has grown over this is emptied. */
  readonly emptyAtBytes?: number;
}

export interface Spool {
  /** Takes everything that was printed so far. */
  drain(): Promise<void>;
  /** Takes the rest, an unfinished last line included, and stops. The agent has ended. */
  finish(): Promise<void>;
  stop(): void;
}

const emptyAtBytesDefault = 16 * 1024 * 1024;
const pendingBytesMax = 1024 * 1024;
const streams = ['stdout', 'stderr'] as const;

/**
 * Begins where the log's marks say, so a backend that follows a dead one neither repeats nor misses
 * a line.
 */
export function followSpool(options: SpoolOptions): Spool {
  const { files, log } = options;
  let emptyAtBytes = options.emptyAtBytes ?? emptyAtBytesDefault;
  let emptying: Promise<void> | null = null;
  let isFinishing = false;

  const follow = (stream: OutputStream): FileFollower => {
    const path = files[stream];
    // Emptied, but the mark was not stored any more: the agent was frozen then, so nothing came
    // since.
    const fromOffset = log.marks[stream] > fileSize(path) ? 0 : log.marks[stream];
    return followFile({
      path,
      fromOffset,
      onLine: (line, nextOffset) => {
        options.onLine(stream, line);
        log.mark({ [stream]: nextOffset });
      },
      afterPiece: async () => {
        if (log.pendingBytes > pendingBytesMax) await log.flush();
        // By its size, not by what was read of it: a flood is written faster than it is read.
        const isLarge = streams.some((one) => fileSize(files[one]) > emptyAtBytes);
        if (isLarge && !isFinishing) emptying ??= empty().finally(() => (emptying = null));
      },
    });
  };
  const followers = new Map<OutputStream, FileFollower>();
  for (const stream of streams) {
    if (existsSync(files[stream])) followers.set(stream, follow(stream));
  }

  const empty = async (): Promise<void> => {
    const frozen = await freeze(options.runId, options.process);
    if (frozen === null) {
      emptyAtBytes *= 2; // better a large file than a lost line
      return;
    }
    try {
      for (const follower of followers.values()) await follower.drain();
      await log.flush(); // the only other copy
      for (const [stream, follower] of followers) {
        truncateSync(files[stream], 0);
        follower.rewind();
        log.mark({ [stream]: 0 });
      }
      await log.flush();
    } finally {
      thaw(frozen);
    }
  };

  return {
    drain: async () => {
      for (const follower of followers.values()) await follower.drain();
      await log.flush();
    },
    finish: async () => {
      isFinishing = true;
      await emptying;
      for (const follower of followers.values()) await follower.finish();
      await log.flush();
    },
    stop: () => {
      isFinishing = true;
      for (const follower of followers.values()) follower.stop();
    },
  };
}
