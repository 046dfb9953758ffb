// One row of a table of misbehaving programs: agents, gates and setups that flood, hang or are
// missing. The run ends with its exit code and reports the reason, keeps its use of disk and memory
// bounded, and leaves no process behind.

import assert from 'node:assert/strict';
import {
  chmodSync,
  type Dirent,
  lstatSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { runDrover, type Ended } from './command.ts';
import { freshPlace, removePlace, type Place } from './place.ts';
import { backendPid, endBackend, killLeftovers, leftProcesses, processesOf } from './processes.ts';

export interface EndingRow {
  readonly title: string;
  /** Body of a shell program; `demo` for the built-in agent. */
  readonly agent: string;
  readonly description?: string;
  readonly toml?: string;
  readonly code: number;
  readonly status: string;
  /** Text in the task's last error, or in the output of `why`. */
  readonly words: readonly (string | RegExp)[];
  readonly diskBytesMax?: number;
}

const runMaxMs = 90_000;
const memoryBytesMax = 700 * 1024 * 1024;
const diskBytesDefault = 8 * 1024 * 1024;
const lookEveryMs = 100;

export async function checkEnding(row: EndingRow): Promise<void> {
  const place = await freshPlace('empty');
  try {
    await checkIn(row, place);
  } finally {
    killLeftovers(place.folder);
    removePlace(place);
  }
}

async function checkIn(row: EndingRow, place: Place): Promise<void> {
  const env = prepare(row, place);
  const drover = (args: readonly string[]): Promise<Ended> =>
    runDrover({ args, env, cwd: place.root, home: place.home, timeoutMs: runMaxMs });
  const description = row.description ?? 'Say hello in French in hello.txt.';
  const added = await drover(['add', 'Greet in French', '-d', description, '--json']);
  assert.equal(added.code, 0, added.stderr);
  const { id } = JSON.parse(added.stdout) as { id: string };
  const watched = watchUse(place);
  const ended = await drover(['run']);
  const use = watched.stop();
  const said = `${ended.stdout}\n${ended.stderr}`.slice(-3_000);
  assert.equal(ended.isLate, false, `it did not end: ${said}`);
  assert.equal(ended.code, row.code, said);
  const status = JSON.parse((await drover(['status', '--json'])).stdout) as {
    readonly tasks: readonly Readonly<Record<string, unknown>>[];
  };
  const task = status.tasks.find((candidate) => candidate['id'] === id);
  assert.equal(task?.['status'], row.status, said);
  const why = await drover(['why', id]);
  const reason = `${String(task?.['last_error'])} ${why.stdout}`;
  for (const word of row.words) {
    const isThere = typeof word === 'string' ? reason.includes(word) : word.test(reason);
    assert.ok(isThere, `${String(word)} is not in: ${reason.slice(0, 2_000)}`);
  }
  const disk = row.diskBytesMax ?? diskBytesDefault;
  assert.ok(use.diskBytes <= disk, `${use.diskBytes} bytes were used on the disk`);
  assert.ok(use.memoryBytes <= memoryBytesMax, `${use.memoryBytes} bytes of memory were used`);
  // The backend is still running, with the shells that start its git; processes that the run
  // started are not.
  const isOwn = /backend\.c?js|drover-git [0-9a-f]{32}$/;
  const left = (): readonly object[] =>
    processesOf(place.folder).filter(({ command }) => !isOwn.test(command));
  // The backend's own git processes exit when they have been idle for a while.
  await eventually('the run has left no processes', () => left().length === 0).catch(() =>
    assert.deepEqual(left(), [], 'the run has left processes'),
  );
  await endBackend(place.root);
  assert.deepEqual(await leftProcesses(place.folder), [], 'processes are left');
}

function prepare(row: EndingRow, place: Place): Record<string, string> {
  const toml = `max_attempts = 1\n${row.toml ?? ''}`;
  writeFileSync(join(place.root, '.drover.toml'), toml);
  if (row.agent === 'demo') return { DROVER_AGENT_TYPE: 'demo' };
  const path = join(place.folder, 'agent.sh');
  writeFileSync(path, `#!/bin/sh\n${row.agent}\n`);
  chmodSync(path, 0o755);
  return { DROVER_AGENT_TYPE: 'command', DROVER_AGENT_PATH: path };
}

interface Use {
  readonly diskBytes: number;
  readonly memoryBytes: number;
}

/** The peak disk use, and the backend's peak memory. */
function watchUse(place: Place): { stop(): Use } {
  let diskBytes = 0;
  let memoryBytes = 0;
  const look = (): void => {
    diskBytes = Math.max(diskBytes, diskUse(place.folder));
    memoryBytes = Math.max(memoryBytes, peakMemory(backendPid(place.root)));
  };
  const timer = setInterval(look, lookEveryMs);
  return {
    stop: () => {
      clearInterval(timer);
      look();
      return { diskBytes, memoryBytes };
    },
  };
}

/** Blocks on disk: a sparse file uses less than its size. */
function diskUse(folder: string): number {
  let bytes = 0;
  for (const entry of entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += diskUse(path);
    else bytes += (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512;
  }
  return bytes;
}

/** Empty for a missing folder. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function peakMemory(pid: number | null): number {
  if (pid === null || process.platform !== 'linux') return 0;
  const [, kilobytes = '0'] = /VmHWM:\s+(\d+) kB/.exec(statusOf(pid)) ?? [];
  return Number(kilobytes) * 1024;
}

function statusOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, 'utf8');
  } catch {
    return '';
  }
}
