// Kills and monitors agents' processes as whole trees, including processes that left the process
// group or lost their parent.

import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { endOrphansIn } from './orphans.ts';
import type { AgentProcess, EndedTree, ProcessTable } from '../../port.ts';
import { HeldRuns } from './held-runs.ts';
import { listProcesses, processStartTime, type ListedProcess } from './process-list.ts';
import {
  findRunGroup,
  isPopulated,
  killGroup,
  listGroupProcesses,
  removeGroup,
} from './run-group.ts';
import { thisPlatform } from '../../../platform/this-platform.ts';

const run = promisify(execFile);
const killRoundsMax = 100;
const killRoundMs = 50;
const pollMsMax = 100;
const freezeRoundsMax = 20;

export function createProcessTable(): ProcessTable {
  return {
    isAlive: (process) => Promise.resolve(isAlive(process)),
    endTree: thisPlatform.hasProcessGroups ? endTree : endTreeOnWindows,
    standStill,
    goOn,
    endOrphansIn,
  };
}

const held = new HeldRuns();

async function standStill(runId: string, agent: AgentProcess): Promise<boolean> {
  if (held.stands(runId)) return true;
  const frozen = await freeze(runId, agent);
  if (frozen === null) return false;
  // It has just ended by itself.
  if (frozen.length === 0) thaw(runId, frozen);
  else held.stand(runId);
  return true;
}

async function goOn(runId: string, agent: AgentProcess): Promise<void> {
  if (held.goOn(runId)) await moveAgain(runId, agent);
}

async function moveAgain(runId: string, agent: AgentProcess): Promise<void> {
  const members = await membersOf(seek(runId, agent));
  signalAll(
    members.filter((one) => one.isStopped),
    'SIGCONT',
  );
}

/** When the run was last stopped, by `performance.now()`. Silence until then is not the agent's. */
export function lastStoodMs(runId: string): number {
  return held.lastStoodMs(runId);
}

export function isAlive(agent: AgentProcess): boolean {
  return processStartTime(agent.pid) === agent.startTime;
}

/** A run whose processes are searched for until none is left. */
interface Sought {
  readonly runId: string;
  readonly agent: AgentProcess | null;
  /** The kernel's group of its processes; null if it has none. */
  readonly group: string | null;
  /** Pids and start times of processes found earlier. */
  readonly known: Map<number, string>;
}

function seek(runId: string, agent: AgentProcess | null): Sought {
  return { runId, agent, group: findRunGroup(runId, agent), known: new Map() };
}

/**
 * The processes of a run: members of its control group and of the agent's process group,
 * descendants, processes with the marker, and processes found before. Without a control group, a
 * child whose parent ended has no other link to us if it also cleared its environment.
 */
async function membersOf({ runId, agent, group, known }: Sought): Promise<ListedProcess[]> {
  const grouped = new Set(group === null ? [] : listGroupProcesses(group));
  const all = (await listProcesses(runId, agent)).filter((one) => !one.isZombie);
  const children = Map.groupBy(all, (one) => one.parentPid);
  const members = new Map<number, ListedProcess>();
  const agentLives = all.some((one) => one.pid === agent?.pid && one.startTime === agent.startTime);
  const add = (one: ListedProcess): void => {
    if (members.has(one.pid) || one.pid === process.pid || one.pid <= 1) return;
    members.set(one.pid, one);
    for (const child of children.get(one.pid) ?? []) add(child);
  };
  for (const one of all) {
    // A group outlives its leader, but then its number proves nothing and the marker must decide.
    const inGroup = agentLives && agent !== null && one.groupId === agent.pid;
    const isKnown = known.get(one.pid) === one.startTime;
    if (one.hasMarker || inGroup || isKnown || grouped.has(one.pid)) add(one);
  }
  for (const one of members.values()) known.set(one.pid, one.startTime);
  return [...members.values()];
}

async function endTree(
  runId: string,
  agent: AgentProcess | null,
  graceMs: number,
): Promise<EndedTree> {
  const sought = seek(runId, agent);
  const { group, known } = sought;
  // A stopped process must not run again.
  await endAll(sought, held.stands(runId) ? 0 : graceMs);
  held.forget(runId);
  if (group !== null) removeGroup(group);
  return { ended: known.size, left: group === null ? null : 0 };
}

/** Throws if any process is left. */
async function endAll(sought: Sought, graceMs: number): Promise<void> {
  let left = await membersOf(sought);
  if (left.length === 0 && !isInhabited(sought)) return;
  // A frozen process handles SIGTERM only after SIGCONT. Without grace it must not run again.
  if (graceMs > 0) for (const name of ['SIGTERM', 'SIGCONT'] as const) signalAll(left, name);
  const graceEndsAt = performance.now() + graceMs;
  for (let waitMs = 5; left.length > 0; waitMs = Math.min(waitMs * 2, pollMsMax)) {
    const remainingMs = graceEndsAt - performance.now();
    if (remainingMs <= 0) break;
    await delay(Math.min(waitMs, remainingMs));
    left = await membersOf(sought);
  }
  const { runId, group } = sought;
  // A tree may grow while it is being killed, so it is scanned until nothing is left.
  for (let round = 0; round < killRoundsMax; round++) {
    if (left.length === 0 && !isInhabited(sought)) return;
    if (group !== null) killGroup(group);
    signalAll(left, 'SIGKILL');
    await delay(round === 0 ? 2 : killRoundMs);
    left = await membersOf(sought);
  }
  const pids = left.map((one) => one.pid).join(', ');
  throw new Error(`processes of run ${runId} could not be ended: ${pids}`);
}

function isInhabited({ group }: Sought): boolean {
  return group !== null && isPopulated(group);
}

/**
 * Best effort, not covered by our tests: Windows has neither process groups nor readable
 * environments of other processes.
 */
async function endTreeOnWindows(
  _runId: string,
  agent: AgentProcess | null,
  graceMs: number,
): Promise<EndedTree> {
  if (agent === null || !isAlive(agent)) return { ended: 0, left: null };
  await run('taskkill', ['/T', '/PID', String(agent.pid)]).catch(() => undefined);
  const graceEndsAt = performance.now() + graceMs;
  while (isAlive(agent) && performance.now() < graceEndsAt) await delay(pollMsMax);
  if (isAlive(agent)) {
    await run('taskkill', ['/T', '/F', '/PID', String(agent.pid)]).catch(() => undefined);
  }
  return { ended: 1, left: null };
}

/**
 * Stops a run's processes briefly, so that a file that they append to can be emptied without losing
 * a line. Pass the returned list to `thaw`. Returns null if that is impossible.
 */
export async function freeze(
  runId: string,
  agent: AgentProcess,
): Promise<readonly ListedProcess[] | null> {
  if (!thisPlatform.hasProcessGroups) return null;
  held.hold(runId);
  const sought = seek(runId, agent);
  for (let round = 0; round < freezeRoundsMax; round++) {
    const members = await membersOf(sought);
    const moving = members.filter((one) => !one.isStopped);
    if (moving.length === 0) return members;
    signalAll(moving, 'SIGSTOP');
    await delay(1);
  }
  thaw(runId, await membersOf(sought));
  return null;
}

/** Call once for each `freeze` that returned a list. The last call resumes the processes. */
export function thaw(runId: string, frozen: readonly ListedProcess[]): void {
  if (held.release(runId)) signalAll(frozen, 'SIGCONT');
}

/** Resumes an agent that was frozen when its backend died. */
export async function thawRun(runId: string, agent: AgentProcess): Promise<void> {
  held.forget(runId);
  await moveAgain(runId, agent);
}

function signalAll(processes: readonly ListedProcess[], name: NodeJS.Signals): void {
  for (const one of processes) {
    try {
      // The pid may have been reused since the scan, so it is checked again by one small read.
      if (processStartTimeIs(one)) process.kill(one.pid, name);
    } catch {
      // It exited by itself, as intended.
    }
  }
}

function processStartTimeIs(one: ListedProcess): boolean {
  return !thisPlatform.hasProcFiles || processStartTime(one.pid) === one.startTime;
}
