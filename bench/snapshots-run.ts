// Measures snapshots of a slot, restoring them, and a reused gate folder, in a process as small as
// a backend, because starting a process copies the parent's memory map. Prints one JSON line.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { SetupRequest } from '../server/git/slot-port.ts';
import { git } from './repositories.ts';
import { elapsedMs, openSlot, prepare, type Slot, valueOf } from './slots.ts';

/** Milliseconds for each round. */
export interface SnapshotsRun {
  readonly status: readonly number[];
  /** The first snapshot of a slot that was just prepared. */
  readonly first: readonly number[];
  /** The second snapshot, which stores data that later ones read. */
  readonly second: readonly number[];
  readonly unchanged: readonly number[];
  readonly changed: readonly number[];
  readonly restored: readonly number[];
}

/** Milliseconds for a gate folder after the first use. */
export interface GateFolderRun {
  /** Files that the setup created are kept. */
  readonly stands: readonly number[];
  /** Files that the gate left behind are removed. */
  readonly left: readonly number[];
}

const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: '' },
    /** Number of files in the repository. */
    files: { type: 'string', default: '2000' },
    changes: { type: 'string', default: '20' },
    /**
     * If set, measures a gate folder with this many ignored files; otherwise, measures snapshots.
     */
    ignored: { type: 'string' },
    rounds: { type: 'string', default: '15' },
  },
});
const files = Number(values.files);
const changes = Number(values.changes);
const rounds = Number(values.rounds);
/** Files that git and Drover read again because they are very new. */
const settledMs = 3_000;

async function snapshots(): Promise<SnapshotsRun> {
  const slot = await openSlot(values.folder, files, 'task');
  // An agent's first snapshot also comes later than this.
  await delay(settledMs);
  const run = { status: [], first: [], second: [], unchanged: [], changed: [], restored: [] } as {
    [K in keyof SnapshotsRun]: number[];
  };
  try {
    for (let round = 0; round < rounds; round += 1) {
      await prepare(slot, 'task');
      run.status.push(await elapsedMs(async () => void git(slot.path, ...bareStatus)));
      run.first.push(await elapsedMs(() => snapshot(slot, round)));
      run.second.push(await elapsedMs(() => snapshot(slot, round)));
      run.unchanged.push(await elapsedMs(() => snapshot(slot, round)));
      for (let i = 0; i < changes; i += 1)
        writeFileSync(join(slot.path, 'src', 'd0', `f${i}.txt`), `round ${round}, file ${i}\n`);
      run.changed.push(await elapsedMs(() => snapshot(slot, round)));
      const kept = valueOf(await slot.repository.lastSnapshot(labelOf(round)));
      await prepare(slot, 'task');
      const request = { path: slot.path, commit: kept?.commit ?? '' };
      run.restored.push(
        await elapsedMs(async () => {
          const { kind } = valueOf(await slot.repository.restore(request));
          if (kind !== 'restored') throw new Error(`the snapshot was not restored: ${kind}`);
        }),
      );
    }
  } finally {
    slot.copy.remove();
  }
  return run;
}

async function gateFolder(ignored: number): Promise<GateFolderRun> {
  const slot = await openSlot(values.folder, files, 'gate');
  const stands: number[] = [];
  const left: number[] = [];
  try {
    const exclude = join(slot.copy.repository, '.git', 'info', 'exclude');
    writeFileSync(exclude, '/installed/\n/out/\n');
    const look = valueOf(await slot.repository.lookAtSetup(setupOf(slot)));
    leaveIgnored(join(slot.path, 'installed'), ignored);
    valueOf(await slot.repository.keepSetup(setupOf(slot), look));
    for (let i = 0; i < rounds; i += 1) stands.push(await elapsedMs(() => makeReady(slot)));
    for (let i = 0; i < rounds; i += 1) {
      leaveIgnored(join(slot.path, 'out'), ignored);
      left.push(await elapsedMs(() => makeReady(slot)));
    }
  } finally {
    slot.copy.remove();
  }
  return { stands, left };
}

/** Prepares the slot as for a gate before its command runs. */
async function makeReady(slot: Slot): Promise<void> {
  await prepare(slot, 'gate');
  const look = valueOf(await slot.repository.lookAtSetup(setupOf(slot)));
  if (!look.stands) throw new Error('the setup would run again');
}

function setupOf({ path }: Slot): SetupRequest {
  return { path, command: 'make installed', inputs: [], leave: [], only: true, seal: 'use' };
}

function leaveIgnored(root: string, files: number): void {
  for (let i = 0; i < files; i += 1) {
    const folder = join(root, `d${Math.floor(i / 300)}`);
    if (i % 300 === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${i}.o`), `${i}\n`);
  }
}

const bareStatus = ['status', '--porcelain=v2', '-z', '--branch', '--untracked-files=all'];

function labelOf(round: number): string {
  return `t/${round}`;
}

async function snapshot({ repository, path, sha }: Slot, round: number): Promise<void> {
  const asked = { reason: 'interval', author: 'agent', base: sha } as const;
  valueOf(await repository.snapshot({ path, label: labelOf(round), ...asked }));
}

async function main(): Promise<void> {
  const { ignored } = values;
  const run = ignored === undefined ? await snapshots() : await gateFolder(Number(ignored));
  process.stdout.write(`${JSON.stringify(run)}\n`, () => process.exit(0));
}

void main();
