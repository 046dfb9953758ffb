// Names this process so that another one on the same machine can tell whether it still lives.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';

/**
 * `pid:start:nonce`. The start is `<machine part>.<time>`: the machine part names the boot and the
 * pid namespace, since pids and start times mean something only inside one of each.
 */
export function processIdentity(): string {
  const nonce = randomBytes(6).toString('hex');
  return `${process.pid}:${startOf(process.pid) ?? 'unknown'}:${nonce}`;
}

/**
 * False only if the process has certainly ended: then its work is taken over immediately. If in
 * doubt (another boot, another container, an unreadable identity) it counts as alive, and its
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
  return !isZombie(pid);
}

function startOf(pid: number): string | null {
  switch (process.platform) {
    case 'linux':
      return linuxStartOf(pid);
    case 'win32':
      return null; // No cheap and safe question there: a live pid counts as the same process, leases do the rest.
    default:
      return psStartOf(pid);
  }
}

function linuxStartOf(pid: number): string | null {
  const fields = linuxStatOf(pid);
  const ticks = fields?.[19];
  if (ticks === undefined) return null;
  return `${linuxMachinePart()}.${ticks}`;
}

/** A process that was killed but not yet waited for by its parent runs no more. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  const state = linuxStatOf(pid)?.[0];
  return state === 'Z' || state === 'X';
}

/**
 * The fields from the state on (field 3 of proc(5)); the command before it may hold blanks and
 * parentheses.
 */
function linuxStatOf(pid: number): readonly string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

let knownLinuxMachinePart: string | null = null;

function linuxMachinePart(): string {
  knownLinuxMachinePart ??= readLinuxMachinePart();
  return knownLinuxMachinePart;
}

function readLinuxMachinePart(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
    const namespace = readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
    return `${boot}-${namespace}`;
  } catch {
    return 'unknown';
  }
}

function psStartOf(pid: number): string | null {
  try {
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 2_000,
    });
    const seconds = Date.parse(`${text.trim()} UTC`) / 1000;
    return Number.isFinite(seconds) ? `.${seconds}` : null;
  } catch {
    return null;
  }
}
