// Cuts off the end of SQLite's write-ahead log, as if the last transactions had never reached the
// disk. Only the part that has not been copied into the database file can be cut; the index says
// how much has. Transactions that Drover reported as stored were flushed before, so a real power
// cut loses only the few commits that were still in progress.

import { existsSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';

const walHeaderBytes = 32;
const frameHeaderBytes = 24;
const pageSizeAt = 8;
/**
 * In the index (`-shm`): two headers of 48 bytes, then the number of frames that are in the
 * database file.
 */
const copiedFramesAt = 96;

export interface LogCut {
  readonly frames: number;
  readonly kept: number;
}

/** Number of commits that can be in progress at the same time during a power cut. */
const commitsLostMax = 2;

/**
 * Loses the last one or two commits, and keeps a share (0 to 1) of their frames, torn as in a real
 * power cut; null if no log with such frames exists.
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
 * The file is rewritten from its start repeatedly, so frames after the current ones have another
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

/**
 * Frames that remain when the last `commits` commits are removed. A commit ends with a frame that
 * contains the size.
 */
function framesBefore(log: string, frameBytes: number, frames: number, commits: number): number {
  const bytes = readFileSync(log);
  let left = commits + 1;
  for (let frame = frames; frame > 0; frame -= 1) {
    const isCommit = bytes.readUInt32BE(walHeaderBytes + (frame - 1) * frameBytes + 4) !== 0;
    if (isCommit && --left === 0) return frame;
  }
  return 0;
}
