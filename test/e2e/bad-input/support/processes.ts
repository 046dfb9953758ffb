// Processes that belong to one place, found by its path, and stopping its backend.

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface FoundProcess {
  readonly pid: number;
  readonly command: string;
}

/** All living processes whose command line, working folder or environment names the folder. */
export function processesOf(folder: string): readonly FoundProcess[] {
  return process.platform === 'linux' ? fromProc(folder) : fromPs(folder);
}

function fromProc(folder: string): FoundProcess[] {
  const found: FoundProcess[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    const command = read(`/proc/${name}/cmdline`).replaceAll('\0', ' ').trim();
    // A process that has exited and waits for its parent has no command line any more.
    if (command === '') continue;
    const facts = [command, linkOf(`/proc/${name}/cwd`), read(`/proc/${name}/environ`)];
    if (facts.some((fact) => fact.includes(folder))) found.push({ pid, command });
  }
  return found;
}

function fromPs(folder: string): FoundProcess[] {
  const lines = execFileSync('ps', ['-Eaxww', '-o', 'pid=,command='], { encoding: 'utf8' });
  return lines.split('\n').flatMap((line) => {
    const [, pid = '', command = ''] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    const isOther = pid !== '' && Number(pid) !== process.pid;
    return isOther && command.includes(folder) ? [{ pid: Number(pid), command }] : [];
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

const endWaitMs = 15_000;

/** Stops the backend of the project in `root`, if one is running, and waits until it has exited. */
export async function endBackend(root: string): Promise<void> {
  const pid = backendPid(root);
  if (pid === null) return;
  signal(pid, 'SIGTERM');
  if (await isGone(pid, endWaitMs)) return;
  signal(pid, 'SIGKILL');
  await isGone(pid, endWaitMs);
  throw new Error(`the backend ${pid} of ${root} did not end when it was asked to`);
}

export function backendPid(root: string): number | null {
  try {
    const address: unknown = JSON.parse(
      readFileSync(join(root, '.drover', 'backend.json'), 'utf8'),
    );
    const pid: unknown = (address as { pid?: unknown }).pid;
    return typeof pid === 'number' && isAlive(pid) ? pid : null;
  } catch {
    return null;
  }
}

const leaveWaitMs = 30_000;

/**
 * Processes that are still alive a while after the backend's exit: its own helpers exit when they
 * notice it.
 */
export async function leftProcesses(folder: string): Promise<readonly FoundProcess[]> {
  const endMs = Date.now() + leaveWaitMs;
  for (;;) {
    const left = processesOf(folder);
    if (left.length === 0 || Date.now() >= endMs) return left;
    await sleep(50);
  }
}

/** Removes everything that a failing row has left behind, by the ids found under its own folder. */
export function killLeftovers(folder: string): readonly FoundProcess[] {
  const left = processesOf(folder);
  for (const { pid } of left) signal(pid, 'SIGKILL');
  return left;
}

export async function isGone(pid: number, waitMs: number): Promise<boolean> {
  const endMs = Date.now() + waitMs;
  while (isAlive(pid)) {
    if (Date.now() >= endMs) return false;
    await sleep(20);
  }
  return true;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // It has exited but was not waited for, so it no longer answers.
  return !/^State:\s+Z/m.test(read(`/proc/${pid}/status`));
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone in between.
  }
}
