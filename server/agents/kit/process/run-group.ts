// A kernel control group (cgroup v2) for each run. A process can leave its parent, its session and
// its environment, but not its group, so the kernel can list, kill and count an agent's leftovers.
// If no group can be created, processes are found only by their other marks.

import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { AgentProcess, ProgramStart } from '../../port.ts';
import { processStartTime } from './process-list.ts';
import { thisPlatform } from '../../../platform/this-platform.ts';

/** The folder of this process's group; null if no group can be created below it. */
let ownFolder: string | null | undefined;

/** Maximum number of groups searched on a machine that has very many. */
const searchedMax = 5_000;

/** Creates a group for the run. Returns null if the system does not support it. */
export function makeRunGroup(runId: string): string | null {
  ownFolder ??= foundFolder();
  return ownFolder === null ? null : makeGroup(ownFolder, runId);
}

function makeGroup(parent: string, runId: string): string | null {
  const folder = join(parent, nameOf(runId));
  try {
    if (!existsSync(folder)) mkdirSync(folder);
    // Kernels before 5.14 cannot kill a group at once.
    accessSync(join(folder, 'cgroup.kill'), constants.W_OK);
    return folder;
  } catch {
    ownFolder = null;
    return null;
  }
}

/**
 * A group that cannot be joined is removed, because an empty one would mean that no process is
 * left.
 */
export const joinGroup = `{ printf 0 > "$group/cgroup.procs" || rmdir "$group"; } 2> /dev/null`;

/** Joins the group, then executes the program. */
const joiner = `group=$1; shift; ${joinGroup}; exec "$@"`;

/** Changes a start so that the program runs in the run's group, if one can be created. */
export function startInGroup(
  runId: string,
  start: Pick<ProgramStart, 'program' | 'args'>,
): Pick<ProgramStart, 'program' | 'args'> {
  return startIn(makeRunGroup(runId), start);
}

/**
 * The same start, in a group beside that of the run to which this process belongs, so that it does
 * not end with the run.
 */
export function startBesideRun(
  marker: string,
  start: Pick<ProgramStart, 'program' | 'args'>,
): Pick<ProgramStart, 'program' | 'args'> {
  ownFolder ??= foundFolder();
  if (ownFolder === null) return start;
  return startIn(makeGroup(besideRun(ownFolder), marker), start);
}

function startIn(
  group: string | null,
  start: Pick<ProgramStart, 'program' | 'args'>,
): Pick<ProgramStart, 'program' | 'args'> {
  if (group === null) return start;
  const args = ['-c', joiner, 'drover-start', group, start.program, ...start.args];
  return { program: '/bin/sh', args };
}

/** The group of a run, including one that an earlier backend created elsewhere. */
export function findRunGroup(runId: string, agent: AgentProcess | null): string | null {
  if (!thisPlatform.hasProcFiles) return null;
  const name = nameOf(runId);
  ownFolder ??= foundFolder();
  for (const folder of ownFolder === null ? [] : [ownFolder, besideRun(ownFolder)]) {
    if (existsSync(join(folder, name))) return join(folder, name);
  }
  if (agent !== null && isOfThisLife(agent)) return null;
  const mounted = mountPoint();
  return mounted === null ? null : searchedBelow(mounted.at, name);
}

/** Its processes, including those in groups that they created below it. */
export function listGroupProcesses(group: string): readonly number[] {
  return [group, ...foldersBelow(group)].flatMap((folder) => {
    try {
      const text = readFileSync(join(folder, 'cgroup.procs'), 'utf8');
      return text
        .split('\n')
        .map(Number)
        .filter((pid) => pid > 0);
    } catch {
      return [];
    }
  });
}

/** Whether the kernel counts a live process in it or below it. */
export function isPopulated(group: string): boolean {
  try {
    return readFileSync(join(group, 'cgroup.events'), 'utf8').includes('populated 1');
  } catch {
    return false;
  }
}

/** Kills all of them at once, so that none has time to start another. */
export function killGroup(group: string): void {
  try {
    writeFileSync(join(group, 'cgroup.kill'), '1');
  } catch {
    // They are killed one by one.
  }
}

export function removeGroup(group: string): void {
  for (const folder of [...foldersBelow(group).toReversed(), group]) {
    try {
      rmdirSync(folder);
    } catch {
      // It contains a process, or no longer exists.
    }
  }
}

/** The name for a process's run: the first part names the project, the second the run. */
function nameOf(runId: string): string {
  const project = runId.slice(0, Math.max(runId.indexOf('/'), 0));
  return `${groupsFolder(project)}${digest(runId, 24)}`;
}

/** If the folder is a run's group, returns the one above it, otherwise the folder itself. */
function besideRun(folder: string): string {
  return /^drover-[0-9a-f]{12}-[0-9a-f]{24}$/.test(basename(folder)) ? dirname(folder) : folder;
}

/** The prefix of the names of all groups of a project. */
export function groupsFolder(project: string): string {
  return `drover-${digest(project, 12)}-`;
}

function digest(text: string, chars: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, chars);
}

function isOfThisLife(agent: AgentProcess): boolean {
  const since = Number(processStartTime(process.pid));
  return Number(agent.startTime) >= since;
}

function foundFolder(): string | null {
  const mounted = thisPlatform.hasProcFiles ? mountPoint() : null;
  if (mounted === null) return null;
  const path = ownPath();
  if (path === null || !path.startsWith(mounted.root)) return null;
  const folder = join(mounted.at, path.slice(mounted.root.length));
  try {
    // Moving a process requires write access to the group above both.
    accessSync(join(folder, 'cgroup.procs'), constants.W_OK);
    accessSync(folder, constants.W_OK);
    return folder;
  } catch {
    return null;
  }
}

/** The group of this process, as named by the kernel. */
function ownPath(): string | null {
  try {
    const text = readFileSync('/proc/self/cgroup', 'latin1');
    return /^0::(.*)$/m.exec(text)?.[1] ?? null;
  } catch {
    return null;
  }
}

/** The mount point of the kernel's groups, and the top group there (`''` = the root). */
function mountPoint(): { readonly at: string; readonly root: string } | null {
  try {
    for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
      const [facts = '', kind = ''] = line.split(' - ');
      const [, , , root = '/', at = ''] = facts.split(' ');
      if (kind.startsWith('cgroup2 ')) return { at, root: root === '/' ? '' : root };
    }
  } catch {
    // The list does not exist, so this is not a Linux with groups.
  }
  return null;
}

function searchedBelow(top: string, name: string): string | null {
  for (const folder of foldersBelow(top)) {
    if (!folder.endsWith(`/${name}`)) continue;
    if (lstatSync(folder, { throwIfNoEntry: false })?.uid === process.getuid?.()) return folder;
  }
  return null;
}

/** Parents before their children. */
function foldersBelow(top: string): string[] {
  const found: string[] = [];
  const open = [top];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    if (found.length >= searchedMax) break;
    try {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        if (!entry.isDirectory()) continue;
        found.push(join(folder, entry.name));
        open.push(join(folder, entry.name));
      }
    } catch {
      // It has just been removed.
    }
  }
  return found;
}
