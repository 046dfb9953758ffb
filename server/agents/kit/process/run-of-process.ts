// Whether a process belongs to a run of a project, determined by its control group, and by the
// marker in its own environment or that of a parent.

import { readFileSync } from 'node:fs';
import { parseStat } from '../../../platform/proc-stat.ts';
import { runMarker } from './process-list.ts';
import { groupsFolder } from './run-group.ts';

/** Maximum number of parents to check, because the chain may change while it is followed. */
const parentsMax = 64;

/** `project`: the prefix of its run names. */
export function isOfRun(project: string, pid: number): boolean {
  for (let [one, looked] = [pid, 0]; one > 1 && looked < parentsMax; looked += 1) {
    const parent = parentOf(one);
    if (parent === null) return false;
    if (isGrouped(project, one) || isMarked(project, one)) return true;
    one = parent;
  }
  return false;
}

function isGrouped(project: string, pid: number): boolean {
  return readIn(pid, 'cgroup').includes(`/${groupsFolder(project)}`);
}

function isMarked(project: string, pid: number): boolean {
  return `\0${readIn(pid, 'environ')}`.includes(`\0${runMarker}=${project}/`);
}

function parentOf(pid: number): number | null {
  return parseStat(pid, readIn(pid, 'stat'))?.parentPid ?? null;
}

/** Empty if the process has ended or belongs to another user. */
function readIn(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}
