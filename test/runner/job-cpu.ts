// The CPU time of processes that outlive their parent, as backends do: no parent waits for them, so
// no process sums up their time. Read from /proc periodically; on machines without it, it counts
// nothing.

import { readdirSync, readFileSync } from 'node:fs';

/**
 * A read costs several milliseconds, so processes that end within a second of their start are
 * omitted.
 */
const lookEveryMs = 1_000;
/** Linux counts in hundredths of a second. */
const msPerTick = 10;

interface Seen {
  readonly parent: number;
  /** Its own time, and that of its children that have ended. */
  readonly cpuMs: number;
}

/** Observes jobs by their folders, which all of their processes have in their environment. */
export class JobCpu {
  /** Pid of the job's first process by the job's folder. */
  readonly #shells = new Map<string, number>();
  /** Folder, or null, by `pid start-time`. */
  #folders = new Map<string, string | null>();
  /** CPU time of each remaining process, with its children: by folder, by `pid start-time`. */
  readonly #left = new Map<string, Map<string, number>>();
  readonly #ticking = setInterval(() => this.#look(), lookEveryMs);

  watch(folder: string, pid: number): void {
    this.#shells.set(folder, pid);
    this.#left.set(folder, new Map());
  }

  /** Milliseconds so far; the job has ended and is forgotten. */
  taken(folder: string): number {
    this.#look();
    const left = this.#left.get(folder)?.values() ?? [];
    this.#shells.delete(folder);
    this.#left.delete(folder);
    return [...left].reduce((sum, ms) => sum + ms, 0);
  }

  close(): void {
    clearInterval(this.#ticking);
  }

  #look(): void {
    const folders = new Map<string, string | null>();
    const seen = new Map<number, Seen & { readonly key: string; readonly folder: string }>();
    for (const name of processNames()) {
      const found = statOf(name);
      if (found === null) continue;
      const key = `${name} ${found.start}`;
      const folder = this.#folders.get(key) ?? this.#folderOf(name);
      folders.set(key, folder);
      if (folder !== null) seen.set(Number(name), { ...found, key, folder });
    }
    this.#folders = folders;
    for (const [folder, shell] of this.#shells) {
      const own = new Map([...seen].filter((entry) => entry[1].folder === folder));
      for (const [root, cpuMs] of leftIn(own, shell)) {
        this.#left.get(folder)?.set(own.get(root)?.key ?? '', cpuMs);
      }
    }
  }

  #folderOf(name: string): string | null {
    const environment = readOrNothing(`/proc/${name}/environ`);
    return [...this.#shells.keys()].find((folder) => environment.includes(folder)) ?? null;
  }
}

/**
 * Milliseconds of each process whose parent does not belong to the job, with all its descendants;
 * the shell waits for its own.
 */
export function leftIn(own: ReadonlyMap<number, Seen>, shell: number): ReadonlyMap<number, number> {
  const left = new Map<number, number>();
  for (const [pid, { cpuMs }] of own) {
    let root = pid;
    for (let up = own.get(root); up !== undefined && own.has(up.parent); up = own.get(root)) {
      root = up.parent;
    }
    if (root !== shell) left.set(root, (left.get(root) ?? 0) + cpuMs);
  }
  return left;
}

function processNames(): readonly string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** The command's name may contain parentheses and spaces, so the fields are counted after it. */
function statOf(name: string): (Seen & { readonly start: string }) | null {
  const text = readOrNothing(`/proc/${name}/stat`);
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const start = fields[19];
  if (start === undefined) return null;
  const cpuMs = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * msPerTick, 0);
  return { parent: Number(fields[1]), cpuMs, start };
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // ended in between, or not ours
  }
}
