// Finds processes that left the tree of their agent, with an empty environment, and still run in
// its folder.

import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentProcess } from '../../port.ts';
import { lowestPidSince } from './pid-order.ts';
import { thisPlatform } from '../../../platform/this-platform.ts';

/** Programs that adopt processes whose parents have ended. */
const reapers: ReadonlySet<string> = new Set([
  'systemd',
  'init',
  'tini',
  'dumb-init',
  'docker-init',
  'catatonit',
]);
const graceMs = 500;
const roundMs = 20;

interface Listed {
  readonly pid: number;
  readonly parentPid: number;
  readonly startTime: string;
}

/**
 * Kills orphans that run below a folder, and their children. A user's program there has a terminal
 * or a parent (an editor, a shell), or is older than the agent, and is left alone. Only Linux
 * reports the working folder of a process; on other systems this does nothing.
 */
export async function endOrphansIn(path: string, agent: AgentProcess): Promise<void> {
  if (!thisPlatform.hasProcFiles || !/^\d+$/.test(agent.startTime)) return;
  let folder: string;
  try {
    folder = realpathSync.native(path);
  } catch {
    return;
  }
  const found = orphansIn(folder, agent);
  if (found.length === 0) return;
  for (const one of found) signal(one, 'SIGTERM');
  const endsAt = performance.now() + graceMs;
  while (found.some(isAlive) && performance.now() < endsAt) await delay(roundMs);
  // Searches once more for processes that they started in the meantime.
  for (const one of [...found, ...orphansIn(folder, agent)]) signal(one, 'SIGKILL');
}

function orphansIn(folder: string, agent: AgentProcess): Listed[] {
  const sinceTicks = Number(agent.startTime);
  const lowestPid = lowestPidSince(agent);
  const inside: Listed[] = [];
  const orphans = new Set<number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    if (Number(name) < lowestPid) continue;
    const place = worksIn(name);
    if (place === null || (place !== folder && !place.startsWith(`${folder}/`))) continue;
    const facts = factsOf(name);
    if (facts === null || Number(facts.startTime) < sinceTicks) continue;
    inside.push(facts);
    if (!facts.hasTerminal && isReaper(facts.parentPid)) orphans.add(facts.pid);
  }
  for (let size = -1; size !== orphans.size;) {
    size = orphans.size;
    for (const one of inside) if (orphans.has(one.parentPid)) orphans.add(one.pid);
  }
  return inside.filter((one) => orphans.has(one.pid));
}

function worksIn(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return null;
  }
}

function factsOf(pid: string): (Listed & { readonly hasTerminal: boolean }) | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z') return null;
    return {
      pid: Number(pid),
      parentPid: Number(fields[1]),
      hasTerminal: fields[4] !== '0',
      startTime: fields[19] ?? '',
    };
  } catch {
    return null;
  }
}

function isReaper(pid: number): boolean {
  if (pid === 1) return true;
  try {
    return reapers.has(readFileSync(`/proc/${pid}/comm`, 'utf8').trim());
  } catch {
    return false;
  }
}

function isAlive({ pid, startTime }: Listed): boolean {
  return factsOf(String(pid))?.startTime === startTime;
}

function signal(one: Listed, name: 'SIGTERM' | 'SIGKILL'): void {
  if (!isAlive(one)) return;
  try {
    process.kill(one.pid, name);
  } catch {
    // It has already exited.
  }
}
