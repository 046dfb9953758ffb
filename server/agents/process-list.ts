// What the operating system says about processes: start times, parents, groups, and who carries a run's marker.

import { execFile, spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, readSync, readdirSync } from 'node:fs';
import { uptime } from 'node:os';
import { promisify } from 'node:util';
import type { AgentProcess } from './port.ts';

/** The variable that every process of a run inherits, also shells that left the process group. */
export const runMarker = 'DROVER_RUN';

export interface ListedProcess {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  readonly startTime: string;
  /** Ended, but not yet collected by its parent: no longer alive for us. */
  readonly isZombie: boolean;
  readonly isStopped: boolean;
  readonly hasMarker: boolean;
}

/** What is told when a process ended before its start time could be read; equals no real start time. */
export const unknownStartTime = 'unknown';

const run = promisify(execFile);
const listingBytesMax = 64 * 1024 * 1024;

/** Start time as the system tells it, or null when there is no such process (a zombie counts as none). */
export function processStartTime(pid: number): string | null {
  switch (process.platform) {
    case 'linux': {
      const listed = readLinuxStat(pid);
      return listed === null || listed.isZombie ? null : listed.startTime;
    }
    case 'win32': {
      // Best effort, never run by our tests: Windows has no cheaper way without native code.
      const script = `(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`;
      const answer = spawnSync('powershell.exe', ['-NoProfile', '-Command', script], {
        encoding: 'utf8',
        windowsHide: true,
      });
      return answer.status === 0 && answer.stdout.trim() !== '' ? answer.stdout.trim() : null;
    }
    default: {
      const answer = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
        encoding: 'utf8',
        env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      });
      const [state, ...start] = answer.stdout.trim().split(/\s+/);
      return state === undefined || state === '' || state.startsWith('Z') ? null : start.join(' ');
    }
  }
}

/** Start time right after a spawn, when the child may have ended but has not been collected yet. */
export function startTimeOfNewChild(pid: number): string {
  if (process.platform === 'linux') return readLinuxStat(pid)?.startTime ?? unknownStartTime;
  return processStartTime(pid) ?? unknownStartTime;
}

/**
 * All processes that we may see; `runId` decides `hasMarker`. With `first` those may be left out that began before it:
 * none of them can be a descendant of it.
 */
export async function listProcesses(
  runId: string,
  first: AgentProcess | null = null,
): Promise<readonly ListedProcess[]> {
  switch (process.platform) {
    case 'linux':
      return listLinuxProcesses(runId, first === null ? 0 : lowestPidSince(first));
    case 'win32':
      return [];
    default:
      return await listWithPs(runId);
  }
}

function listLinuxProcesses(runId: string, lowestPid: number): ListedProcess[] {
  const found: ListedProcess[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid < lowestPid) continue;
    const stat = readLinuxStat(pid);
    if (stat !== null) found.push({ ...stat, hasMarker: linuxHasMarker(pid, runId) });
  }
  return found;
}

/** More processes in a second than any system starts for long. */
const startsPerSecondMax = 20_000;
const ticksPerSecond = 100;
let pidMax: number | null = null;

/**
 * Process numbers grow until the largest is reached and begin anew then. As long as that cannot have happened since a
 * process began, everything below its number is older than it, and need not be looked at: that is nearly everything.
 */
function lowestPidSince(first: AgentProcess): number {
  try {
    pidMax ??= Number(readFileSync('/proc/sys/kernel/pid_max', 'latin1'));
    const lastPid = Number(readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1));
    const ageSeconds = uptime() - Number(first.startTime) / ticksPerSecond;
    const isYoung = ageSeconds >= 0 && (ageSeconds + 1) * startsPerSecondMax < pidMax;
    return isYoung && lastPid >= first.pid ? first.pid : 0;
  } catch {
    return 0;
  }
}

const statBuffer = Buffer.alloc(4096);

function readLinuxStat(pid: number): ListedProcess | null {
  let file: number;
  try {
    file = openSync(`/proc/${pid}/stat`, 'r');
  } catch {
    return null;
  }
  try {
    const length = readSync(file, statBuffer, 0, statBuffer.length, 0);
    return parseLinuxStat(pid, statBuffer.toString('latin1', 0, length));
  } catch {
    return null; // it ended between the two
  } finally {
    closeSync(file);
  }
}

/** The command name may hold spaces and brackets: everything is counted from the last bracket. */
export function parseLinuxStat(pid: number, text: string): ListedProcess | null {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
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
    hasMarker: false,
  };
}

function linuxHasMarker(pid: number, runId: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`);
    return `\0${environment.toString('latin1')}`.includes(
      `\0${runMarker}=${Buffer.from(runId, 'utf8').toString('latin1')}\0`,
    );
  } catch {
    return false; // ended meanwhile, or of another user: then it is not ours
  }
}

async function listWithPs(runId: string): Promise<ListedProcess[]> {
  const options = { env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, maxBuffer: listingBytesMax };
  const table = await run('ps', ['-axo', 'pid=,ppid=,pgid=,stat=,lstart='], options);
  const withEnvironment = await run('ps', ['-axEww', '-o', 'pid=,command='], options);
  const marked = new Set<number>();
  for (const line of withEnvironment.stdout.split('\n')) {
    if (` ${line} `.includes(` ${runMarker}=${runId} `)) marked.add(Number.parseInt(line, 10));
  }
  return table.stdout.split('\n').flatMap((line) => {
    const [pid, parent, group, state, ...start] = line.trim().split(/\s+/);
    if (pid === undefined || state === undefined) return [];
    return [
      {
        pid: Number(pid),
        parentPid: Number(parent),
        groupId: Number(group),
        startTime: start.join(' '),
        isZombie: state.startsWith('Z'),
        isStopped: state.startsWith('T'),
        hasMarker: marked.has(Number(pid)),
      },
    ];
  });
}
