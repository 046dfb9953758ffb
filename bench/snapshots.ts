// What keeping work costs: snapshots of a slot, their restoration, and a gate's folder that is used again.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openGitAdapter } from '../server/git/adapter.ts';
import type { LocalRepository } from '../server/git/repository.ts';
import type { GitResult } from '../server/git/port.ts';
import type { SetupRequest } from '../server/git/slot-port.ts';
import type { Bench } from './bench.ts';
import { median, short, type Figure } from './figures.ts';
import { copyOf, git, repositoryOf, type RunFolder } from './repositories.ts';

const part = 'snapshots';
const filesChanged = 20;
const filesIgnored = 30_000;

/** Milliseconds by the number of files in the repository. */
const targets: Readonly<Record<number, { unchanged: number; changed: number; restore?: number }>> =
  {
    2_000: { unchanged: 5, changed: 25, restore: 200 },
    50_000: { unchanged: 60, changed: 120 },
  };

export async function benchSnapshots(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const files of bench.options.files) figures.push(...(await snapshotsOf(bench, files)));
  return [...figures, ...(await gateFolder(bench))];
}

async function snapshotsOf(bench: Bench, files: number): Promise<Figure[]> {
  bench.say(`snapshots: ${files} files`);
  const slot = await openSlot(bench, files, 'task');
  const rounds = bench.options.brief ? 1 : 15;
  const floor: number[] = [];
  const unchanged: number[] = [];
  const changed: number[] = [];
  const restored: number[] = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      await prepare(slot, 'task');
      floor.push(await elapsedMs(async () => void git(slot.path, ...bareStatus)));
      unchanged.push(await elapsedMs(() => snapshot(slot, round)));
      for (let i = 0; i < filesChanged; i += 1)
        writeFileSync(join(slot.path, 'src', 'd0', `f${i}.txt`), `round ${round}, file ${i}\n`);
      changed.push(await elapsedMs(() => snapshot(slot, round)));
      const kept = valueOf(await slot.repository.lastSnapshot(labelOf(round)));
      await prepare(slot, 'task');
      const { path } = slot;
      const request = { path, commit: kept?.commit ?? '' };
      restored.push(
        await elapsedMs(async () => {
          const { kind } = valueOf(await slot.repository.restore(request));
          if (kind !== 'restored') throw new Error(`the snapshot was not restored: ${kind}`);
        }),
      );
    }
  } finally {
    slot.copy.remove();
  }
  const target = targets[files];
  const status = `a bare git status: ${short(median(floor))}`;
  return [
    figure(`unchanged slot of ${files} files`, unchanged, target?.unchanged, status),
    figure(`${filesChanged} changed files of ${files}`, changed, target?.changed, status),
    figure(`restore, ${files} files`, restored, target?.restore, status),
  ];
}

/** A gate after the first: what the setup has made stays, what the gate has left goes. */
async function gateFolder(bench: Bench): Promise<Figure[]> {
  const slot = await openSlot(bench, 100, 'gate');
  const ignored = bench.options.brief ? 100 : filesIgnored;
  const stands: number[] = [];
  const left: number[] = [];
  try {
    const exclude = join(slot.copy.repository, '.git', 'info', 'exclude');
    writeFileSync(exclude, '/installed/\n/out/\n');
    const look = valueOf(await slot.repository.lookAtSetup(setupOf(slot)));
    leaveIgnored(join(slot.path, 'installed'), ignored);
    valueOf(await slot.repository.keepSetup(setupOf(slot), look));
    const rounds = bench.options.brief ? 1 : 5;
    bench.say(`snapshots: gate folder, ${rounds} times`);
    for (let i = 0; i < rounds; i += 1) stands.push(await elapsedMs(() => makeReady(slot)));
    for (let i = 0; i < rounds; i += 1) {
      leaveIgnored(join(slot.path, 'out'), ignored);
      left.push(await elapsedMs(() => makeReady(slot)));
    }
  } finally {
    slot.copy.remove();
  }
  return [
    figure(`gate folder whose setup has made ${ignored} files`, stands, 400, null),
    figure(`the same after a gate that left ${ignored} more`, left, undefined, null),
  ];
}

/** As a gate does it before its command runs. */
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

interface Slot {
  readonly copy: RunFolder;
  readonly repository: LocalRepository;
  readonly path: string;
  readonly sha: string;
}

async function openSlot(bench: Bench, files: number, use: 'task' | 'gate'): Promise<Slot> {
  const copy = copyOf(bench.folder, repositoryOf(bench.folder, files));
  git(copy.repository, 'checkout', '-q', 'main');
  const environment = { PATH: process.env['PATH'] ?? '', HOME: copy.home };
  const repository = valueOf(await openGitAdapter({ environment }).open(copy.repository));
  const sha = git(copy.repository, 'rev-parse', 'main');
  const slot = { copy, repository, path: join(copy.folder, 'slot'), sha };
  await prepare(slot, use);
  return slot;
}

async function prepare({ repository, path, sha }: Slot, use: 'task' | 'gate'): Promise<void> {
  const branch = use === 'task' ? 'drover/t/1' : null;
  const emptied = { keepBranch: false, dropIgnored: false, sparse: null };
  valueOf(await repository.prepareSlot({ path, branch, sha, ...emptied, use }));
}

const bareStatus = ['status', '--porcelain=v2', '-z', '--branch', '--untracked-files=all'];

function labelOf(round: number): string {
  return `t/${round}`;
}

async function snapshot({ repository, path, sha }: Slot, round: number): Promise<void> {
  const asked = { reason: 'interval', author: 'agent', base: sha } as const;
  valueOf(await repository.snapshot({ path, label: labelOf(round), ...asked }));
}

async function elapsedMs(run: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await run();
  return performance.now() - startedMs;
}

function valueOf<T>(result: GitResult<T>): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

function figure(
  what: string,
  times: readonly number[],
  atMost: number | undefined,
  beside: string | null,
): Figure {
  const target = atMost === undefined ? null : { atMost };
  const spread = `${short(Math.min(...times))} to ${short(Math.max(...times))}`;
  const detail = beside === null ? spread : `${spread}; ${beside}`;
  return { part, what, value: median(times), unit: 'ms', target, detail };
}
