// Identifies this process so that another one on the same machine can tell whether it is alive.

import { randomBytes } from 'node:crypto';
import { thisPlatform } from '../../platform/this-platform.ts';

/**
 * `pid:start:nonce`. The start is `<machine part>.<time>`. The machine part identifies the boot and
 * the pid namespace, because pids and start times are only comparable within one of each.
 */
export function processIdentity(): string {
  const nonce = randomBytes(6).toString('hex');
  return `${process.pid}:${startOf(process.pid) ?? 'unknown'}:${nonce}`;
}

/**
 * Returns false only if the process has certainly ended, so that its work is taken over at once. If
 * in doubt (another boot, another container, an unreadable identity), it counts as alive and its
 * leases decide.
 */
export function isProcessAlive(identity: string): boolean {
  const [pidText = '', start = ''] = identity.split(':');
  const pid = Number(pidText);
  if (!Number.isSafeInteger(pid) || pid <= 0) return true;
  if (machinePart(start) !== machinePart(startOf(process.pid) ?? '')) return true;
  if (!pidExists(pid)) return false;
  const startNow = startOf(pid);
  return startNow === null || start === 'unknown' || startNow === start;
}

function machinePart(start: string): string {
  const dot = start.lastIndexOf('.');
  return dot === -1 ? '' : start.slice(0, dot);
}

function pidExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
  return !(thisPlatform.hasCheapStartTimes && thisPlatform.processFacts(pid)?.isZombie === true);
}

/**
 * Returns null if the process does not exist, or if checking is too expensive. Leases then decide.
 */
function startOf(pid: number): string | null {
  const facts = thisPlatform.hasCheapStartTimes ? thisPlatform.processFacts(pid) : null;
  return facts === null ? null : `${thisPlatform.bootName()}.${facts.startTime}`;
}
