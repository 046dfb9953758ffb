// Reads `/proc/<pid>/stat`, the cheapest source about a Linux process.

import { closeSync, openSync, readSync } from 'node:fs';
import type { ProcessFacts } from './port.ts';

export interface ProcStat extends ProcessFacts {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  readonly isStopped: boolean;
}

const buffer = Buffer.alloc(4096);

/** Returns null if the process does not exist. */
export function readStatText(pid: number): string | null {
  let file: number;
  try {
    file = openSync(`/proc/${pid}/stat`, 'r');
  } catch {
    return null;
  }
  try {
    return buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0));
  } catch {
    return null; // it ended between open and read
  } finally {
    closeSync(file);
  }
}

/**
 * Starts at the third field, `state`. The command name may contain spaces and brackets, so fields
 * are counted from the last bracket.
 */
export function statFields(text: string): string[] {
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** Returns null if the text is truncated. */
export function parseStat(pid: number, text: string): ProcStat | null {
  const fields = statFields(text);
  const [state, parent, group] = fields;
  const startTime = fields[19];
  if (state === undefined || startTime === undefined) return null;
  return {
    pid,
    parentPid: Number(parent),
    groupId: Number(group),
    startTime,
    isZombie: state === 'Z' || state === 'X',
    isStopped: state === 'T' || state === 't',
  };
}

export function readStat(pid: number): ProcStat | null {
  const text = readStatText(pid);
  return text === null ? null : parseStat(pid, text);
}
