// Reads the operating system's data about processes: start times, parents, groups, and which have a
// run's marker.

import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { parsePsFacts, psEnvironment } from '../../../platform/darwin.ts';
import {
  type ProcStat,
  parseStat,
  readStat,
  readStatText,
  statFields,
} from '../../../platform/proc-stat.ts';
import { thisPlatform } from '../../../platform/this-platform.ts';
import type { AgentProcess } from '../../port.ts';
import { lowestPidSince } from './pid-order.ts';

/**
 * The variable that every process of a run inherits, including shells that left the process group.
 */
export const runMarker = 'DROVER_RUN';

export interface ListedProcess extends ProcStat {
  readonly hasMarker: boolean;
}

/** Used if a process ended before its start time could be read. Never equals a real start time. */
export const unknownStartTime = 'unknown';

const run = promisify(execFile);
const listingBytesMax = 64 * 1024 * 1024;

/** Start time as reported by the system. Null if the process does not exist or is a zombie. */
export function processStartTime(pid: number): string | null {
  const facts = thisPlatform.processFacts(pid);
  return facts === null || facts.isZombie ? null : facts.startTime;
}

/** Start time right after a spawn, when the child may have ended but still exists as a zombie. */
export function startTimeOfNewChild(pid: number): string {
  return thisPlatform.processFacts(pid)?.startTime ?? unknownStartTime;
}

/**
 * All processes that we may see. `runId` determines `hasMarker`. With `first`, processes that
 * started before it may be omitted, because none of them can be its descendant.
 */
export async function listProcesses(
  runId: string,
  first: AgentProcess | null = null,
): Promise<readonly ListedProcess[]> {
  if (thisPlatform.hasProcFiles) return await listLinuxProcesses(runId, first);
  return thisPlatform.hasProcessGroups ? await listWithPs(runId) : [];
}

/** More rounds are needed only if processes start and exit faster than they can be read. */
const listingsMax = 50;

/**
 * Reads the list of ids until it contains no new one. Otherwise a child could be missed if its
 * parent exited in between, and would outlive its run.
 */
async function listLinuxProcesses(
  runId: string,
  first: AgentProcess | null,
): Promise<ListedProcess[]> {
  const lowestPid = first === null ? 0 : lowestPidSince(first);
  // NaN if unknown, and then nothing counts as older.
  const sinceTicks = first === null ? 0 : Number(first.startTime);
  const marker = markerOf(runId);
  const found: ListedProcess[] = [];
  const seen = new Set<string>();
  for (let listing = 0; listing < listingsMax; listing++) {
    const names = readdirSync('/proc').filter((name) => isNewPid(name, lowestPid, seen));
    if (names.length === 0) break;
    for (const name of names) {
      seen.add(name);
      const stat = readStat(Number(name));
      // Reading an environment is the most expensive part, and nearly all processes are older.
      if (stat === null || Number(stat.startTime) < sinceTicks) continue;
      found.push({ ...stat, hasMarker: await linuxHasMarker(stat.pid, marker) });
    }
  }
  return found;
}

function isNewPid(name: string, lowestPid: number, seen: ReadonlySet<string>): boolean {
  const pid = Number(name);
  return Number.isInteger(pid) && pid >= lowestPid && !seen.has(name);
}

/** About a second in total, because a program on a slow disk takes long to start. */
const beginRoundsMax = 500;
const beginRoundMs = 1;
/** An environment that is empty this often in a row really has no variables. */
const emptyMax = 3;

async function linuxHasMarker(pid: number, marker: string): Promise<boolean> {
  let empty = 0;
  for (let round = 0; round < beginRoundsMax && empty < emptyMax; round++) {
    const environment = readEnvironment(pid);
    if (environment === null) return false;
    if (environment !== '') return environment.includes(marker);
    if (isBeginningProgram(pid)) await delay(beginRoundMs);
    else empty += 1;
  }
  return false;
}

function markerOf(runId: string): string {
  return `\0${runMarker}=${runId}\0`;
}

/**
 * The variables, separated by zeros. Null if the process has ended or belongs to another user, in
 * which case it is not ours.
 */
function readEnvironment(pid: number): string | null {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8');
    return variables === '' ? '' : `\0${variables}`;
  } catch {
    return null;
  }
}

/** A kernel thread, PF_KTHREAD in Linux's sched.h. */
const kernelThreadFlag = 0x00200000;

/**
 * Whether a process is about to execute a program. During that time, Linux reports an empty
 * environment that ends at zero (proc_pid_stat(5), `env_end`), whatever the program gets.
 */
function isBeginningProgram(pid: number): boolean {
  const text = readStatText(pid);
  if (text === null || parseStat(pid, text)?.isZombie === true) return false;
  const fields = statFields(text);
  return (Number(fields[6]) & kernelThreadFlag) === 0 && fields[48] === '0';
}

async function listWithPs(runId: string): Promise<ListedProcess[]> {
  const options = { env: psEnvironment, maxBuffer: listingBytesMax };
  const table = await run('ps', ['-axo', 'pid=,ppid=,pgid=,stat=,lstart='], options);
  const withEnvironment = await run('ps', ['-axEww', '-o', 'pid=,command='], options);
  const marked = new Set<number>();
  for (const line of withEnvironment.stdout.split('\n')) {
    if (` ${line} `.includes(` ${runMarker}=${runId} `)) marked.add(Number.parseInt(line, 10));
  }
  return table.stdout.split('\n').flatMap((line) => {
    const [pid, parent, group, state, ...start] = line.trim().split(/\s+/);
    const facts = parsePsFacts([state, ...start].join(' '));
    if (pid === undefined || state === undefined || facts === null) return [];
    return [
      {
        pid: Number(pid),
        parentPid: Number(parent),
        groupId: Number(group),
        ...facts,
        isStopped: state.startsWith('T'),
        hasMarker: marked.has(Number(pid)),
      },
    ];
  });
}
