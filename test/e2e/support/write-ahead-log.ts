// Cuts the end off SQLite's write-ahead log, as if the last transactions had never reached the disk. Only what has not
// been copied into the database file can be cut; the index says how much has.

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

/** Keeps the share (0 to 1) of the frames that can be lost; null where there is no log with such frames. */
export function cutLog(database: string, share: number): LogCut | null {
  const log = `${database}-wal`;
  const index = `${database}-shm`;
  if (!existsSync(log) || !existsSync(index) || statSync(log).size <= walHeaderBytes) return null;
  const pageSize = readFileSync(log).readUInt32BE(pageSizeAt);
  const frameBytes = frameHeaderBytes + pageSize;
  const frames = framesOfThisRound(log, frameBytes);
  const copied = Math.min(readFileSync(index).readUInt32LE(copiedFramesAt), frames);
  const kept = copied + Math.floor((frames - copied) * share);
  if (kept === frames) return null;
  truncateSync(log, walHeaderBytes + kept * frameBytes);
  rmSync(index);
  return { frames, kept };
}

/** The file is written from its beginning again and again: frames behind the present ones bear another salt. */
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
