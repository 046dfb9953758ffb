// Which process ids need not be checked: until Linux wraps around, every id below that of a process
// belongs to an older one. These are nearly all processes.

import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import type { AgentProcess } from '../../port.ts';
import { thisPlatform } from '../../../platform/this-platform.ts';

/** More process starts per second than any system sustains. */
const startsPerSecondMax = 20_000;
const ticksPerSecond = 100;
let pidMax: number | null = null;

/** How many processes the system had started just after it started one of ours. */
const startsAtBirth = new Map<string, number>();
const birthsMax = 1_000;

/** Call when an agent's process exists, before its program starts. */
export function noteBirth(agent: AgentProcess): void {
  if (!thisPlatform.hasProcFiles) return;
  const starts = startsSoFar();
  if (starts === null) return;
  if (startsAtBirth.size >= birthsMax) startsAtBirth.clear();
  startsAtBirth.set(keyOf(agent), starts);
}

/** No descendant of the process has a lower id. Returns 0 if unknown. */
export function lowestPidSince(first: AgentProcess): number {
  try {
    pidMax ??= Number(readFileSync('/proc/sys/kernel/pid_max', 'utf8'));
    const lastPid = Number(readFileSync('/proc/loadavg', 'utf8').trim().split(' ').at(-1));
    if (!(lastPid >= first.pid)) return 0;
    const starts = startsSince(first) ?? startsAtMost(first);
    // Ids in use are skipped, and some were assigned before the start was recorded.
    return starts < pidMax / 2 ? first.pid : 0;
  } catch {
    return 0;
  }
}

/** Returns null if the birth was not recorded, or if the system does not count processes. */
function startsSince(first: AgentProcess): number | null {
  const before = startsAtBirth.get(keyOf(first));
  const now = before === undefined ? null : startsSoFar();
  return before === undefined || now === null || now <= before ? null : now - before;
}

function startsAtMost(first: AgentProcess): number {
  const ageSeconds = uptime() - Number(first.startTime) / ticksPerSecond;
  return ageSeconds >= 0 ? (ageSeconds + 1) * startsPerSecondMax : Number.POSITIVE_INFINITY;
}

/** Includes threads, which use ids too. */
function startsSoFar(): number | null {
  try {
    const text = readFileSync('/proc/stat', 'utf8');
    const count = Number(/^processes (\d+)$/mu.exec(text)?.[1] ?? 0);
    return count > 0 ? count : null;
  } catch {
    return null;
  }
}

function keyOf({ pid, startTime }: AgentProcess): string {
  return `${pid} ${startTime}`;
}
