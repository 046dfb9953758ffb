// Finds other processes that have a file open, so that a refusal can name the one that locks it.

import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';

export interface Opener {
  readonly pid: number;
  readonly program: string;
}

const openersMax = 3;
/** Limits the search on a machine with very many processes. */
const processesMax = 5_000;

/**
 * Returns an empty list if no other process has it open, or if that is unknown (other systems,
 * other users).
 */
export function openers(path: string): readonly Opener[] {
  const found: Opener[] = [];
  let wanted: { readonly dev: number; readonly ino: number };
  try {
    wanted = statSync(realpathSync(path));
  } catch {
    return [];
  }
  const pids = namesIn('/proc').filter((name) => /^\d+$/u.test(name));
  for (const pid of pids.slice(0, processesMax)) {
    if (Number(pid) === process.pid || !hasOpen(pid, wanted)) continue;
    found.push({ pid: Number(pid), program: programOf(pid) });
    if (found.length === openersMax) break;
  }
  return found;
}

function hasOpen(
  pid: string,
  { dev, ino }: { readonly dev: number; readonly ino: number },
): boolean {
  return namesIn(`/proc/${pid}/fd`).some((fd) => {
    try {
      const facts = statSync(`/proc/${pid}/fd/${fd}`);
      return facts.ino === ino && facts.dev === dev;
    } catch {
      return false; // It was closed, or it is a broken link.
    }
  });
}

function programOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return 'ended';
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
