// Cuts the end off SQLite's write-ahead log, as if the last transactions had never reached the
// disk. Only the part that has not been copied into the database file can be cut; the index says
// how much has. Transactions that Drover reported as stored were flushed before, so a real loss of
// power takes only the few commits that were still on their way.

import { existsSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';

const walHeaderBytes = 32;
const frameHeaderBytes = 24;
const pageSizeAt = 8;
/** In the index (`-shm`): two headers of 48 bytes, then the number of frames that are in the database file. */
const copiedFramesAt = 96;

export interface LogCut {
  readonly frames: number;
  readonly kept: number;
}

/** Commits that can be on their way to the disk at once when the power goes. */
const commitsLostMax = 2;

/**
 * Loses the last one or two commits, and keeps a share (0 to 1) of their frames, torn as a real cut
 * leaves them; null if there is no log with such frames.
 */
export function cutLog(database: string, share: number): LogCut | null {
  const log = `${database}-wal`;
  const index = `${database}-shm`;
  if (!existsSync(log) || !existsSync(index) || statSync(log).size <= walHeaderBytes) return null;
  const pageSize = readFileSync(log).readUInt32BE(pageSizeAt);
  const frameBytes = frameHeaderBytes + pageSize;
  const frames = framesOfThisRound(log, frameBytes);
  const copied = Math.min(readFileSync(index).readUInt32LE(copiedFramesAt), frames);
  const sound = framesBefore(log, frameBytes, frames, 1 + Math.round(share * (commitsLostMax - 1)));
  const kept = Math.max(copied, sound) + Math.floor((frames - Math.max(copied, sound) - 1) * share);
  if (kept >= frames || kept < copied) return null;
  truncateSync(log, walHeaderBytes + kept * frameBytes);
  rmSync(index);
  return { frames, kept };
}

/**
 * The file is written from its start again and again: frames after the current ones have another
 * salt.
 */
function framesOfThisRound(log: string, frameBytes: number): number {
  const bytes = readFileSync(log);
  const salt = bytes.subarray(16, 24);
  let frames = 0;
  for (let at = walHeaderBytes; at + frameBytes <= bytes.length; at += frameBytes) {
    if (!bytes.subarray(at + 8, at + 16).equals(salt)) break;
    frames += 1;
  }
  return frames;
}

/** Frames that are left when the last `commits` commits are taken away. A commit ends with a frame that says the size. */
function framesBefore(log: string, frameBytes: number, frames: number, commits: number): number {
  const bytes = readFileSync(log);
  let left = commits + 1;
  for (let frame = frames; frame > 0; frame -= 1) {
    const isCommit = bytes.readUInt32BE(walHeaderBytes + (frame - 1) * frameBytes + 4) !== 0;
    if (isCommit && --left === 0) return frame;
  }
  return 0;
}
