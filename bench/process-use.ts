// CPU time and memory of a process and its children, as reported by Linux.

import { mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ProcessUse {
  /**
   * CPU time of the process, its living descendants, and all descendants that they have waited for.
   */
  readonly cpuMs: number;
  readonly rssMb: number;
}

/** Clock ticks of the kernel's accounting: 100 a second on every relevant Linux. */
const msPerTick = 10;
const bytesPerPage = 4096;

interface Stat {
  readonly parent: number;
  readonly ticks: number;
  readonly pages: number;
}

function readStat(pid: number | string): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + (fields[at] ?? 0), 0);
    return { parent: fields[1] ?? 0, ticks, pages: fields[21] ?? 0 };
  } catch {
    return null;
  }
}

/** CPU time of the process itself, without its children. */
export function ownUse(pid: number): ProcessUse {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const ticks = (fields[11] ?? 0) + (fields[12] ?? 0);
  return { cpuMs: ticks * msPerTick, rssMb: ((fields[21] ?? 0) * bytesPerPage) / 1e6 };
}

export function treeUse(root: number): ProcessUse {
  const stats = new Map<number, Stat>();
  for (const name of readdirSync('/proc')) {
    const stat = /^\d+$/.test(name) ? readStat(name) : null;
    if (stat !== null) stats.set(Number(name), stat);
  }
  let ticks = 0;
  let pages = 0;
  for (const [pid, stat] of stats) {
    if (!isBelow(pid, root, stats)) continue;
    ticks += stat.ticks;
    pages += stat.pages;
  }
  return { cpuMs: ticks * msPerTick, rssMb: (pages * bytesPerPage) / 1e6 };
}

export interface CpuCount {
  /** Includes processes that have ended since counting started. */
  usedMs(): number;
  remove(): void;
}

/**
 * Counts the usage of a process and all its children from now on, including children that leave its
 * tree, with a control group of the kernel. Returns null if no group can be created.
 */
export function countCpu(pid: number): CpuCount | null {
  try {
    const mounted = /^\S+ \S+ \S+ \S+ (\S+) .* - cgroup2 /m.exec(
      readFileSync('/proc/self/mountinfo', 'utf8'),
    );
    const folder = join(mounted?.[1] ?? '', `drover-bench-${process.pid}`);
    mkdirSync(folder);
    writeFileSync(join(folder, 'cgroup.procs'), String(pid));
    return {
      usedMs: () => {
        const text = readFileSync(join(folder, 'cpu.stat'), 'utf8');
        return Number(/^usage_usec (\d+)$/m.exec(text)?.[1]) / 1000;
      },
      remove: () => rmdirSync(folder),
    };
  } catch {
    return null;
  }
}

function isBelow(pid: number, root: number, stats: ReadonlyMap<number, Stat>): boolean {
  for (let at = pid; at > 1; at = stats.get(at)?.parent ?? 0) {
    if (at === root) return true;
  }
  return false;
}

/**
 * Resident memory in MB of a command, of the backend and of the shells that start git (0 for a
 * missing process).
 */
export function droverUse(
  command: number,
  backend: number | null,
): {
  readonly sum: number;
  readonly command: number;
  readonly backend: number;
  readonly shells: number;
} {
  const mb = (pid: number): number =>
    Math.round(((readStat(pid)?.pages ?? 0) * bytesPerPage) / 1e6);
  const shells = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && backend !== null && readStat(name)?.parent === backend)
    .filter((name) => /drover-git/.test(commandLine(name)))
    .reduce((sum, name) => sum + mb(Number(name)), 0);
  const own = { command: mb(command), backend: backend === null ? 0 : mb(backend), shells };
  return { ...own, sum: own.command + own.backend + own.shells };
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
