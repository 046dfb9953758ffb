// A test's live processes: every process that names the test's own folder in its environment, its
// arguments or its working directory.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface LivingProcess {
  readonly pid: number;
  readonly what: string;
}

/** Kills these immediately; one that has already exited is not an error. */
export function killAll(processes: readonly LivingProcess[]): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It exited by itself.
    }
  }
}

/**
 * Kills processes that name the folder, and processes that they start in the meantime, until
 * nothing is left or the rounds are used up.
 */
export async function killAllOf(folder: string, roundsMax: number, roundMs: number): Promise<void> {
  for (let rounds = 0; rounds < roundsMax; rounds += 1) {
    const left = processesOf(folder);
    if (left.length === 0) return;
    killAll(left);
    await new Promise((done) => setTimeout(done, roundMs));
  }
}

/** `variable`: only processes that have it in their environment, as `NAME=value`. */
export function processesOf(folder: string, variable = ''): readonly LivingProcess[] {
  return process.platform === 'linux'
    ? listFromProc(folder, variable)
    : listFromPs(folder, variable);
}

function listFromProc(folder: string, variable: string): LivingProcess[] {
  const found: LivingProcess[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const read = (file: string): string => {
      try {
        return readFileSync(`/proc/${pid}/${file}`, 'utf8');
      } catch {
        return ''; // ended in between, or not ours
      }
    };
    const words = read('cmdline').replaceAll('\0', ' ').trim();
    const environment = read('environ');
    const isOurs = [words, environment, workingDirectory(pid)].some((text) =>
      text.includes(folder),
    );
    const isWanted = variable === '' || `\0${environment}\0`.includes(`\0${variable}\0`);
    if (isOurs && isWanted && isRunning(read('stat'))) found.push({ pid, what: words });
  }
  return found;
}

function workingDirectory(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

/**
 * The command's name may contain parentheses, so the state is the first word after the last one.
 */
function isRunning(stat: string): boolean {
  const state = stat.slice(stat.lastIndexOf(')') + 2).charAt(0);
  return state !== '' && state !== 'Z' && state !== 'X';
}

function listFromPs(folder: string, variable: string): LivingProcess[] {
  const table = execFileSync('ps', ['-axEww', '-o', 'pid=,stat=,command='], { encoding: 'utf8' });
  return table.split('\n').flatMap((line) => {
    const [pid, state, ...words] = line.trim().split(/\s+/);
    const isOurs = line.includes(folder) && line.includes(variable) && Number(pid) !== process.pid;
    return isOurs && !(state ?? 'Z').startsWith('Z')
      ? [{ pid: Number(pid), what: words.join(' ').slice(0, 200) }]
      : [];
  });
}

/** Returns false for a process that has exited, even if its parent has not yet waited for it. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || isRunning(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
