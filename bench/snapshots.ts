// Measures the cost of keeping work: snapshots of a slot, restoring them, and a reused gate folder.

import type { Bench } from './bench.ts';
import { median, short, type Figure } from './figures.ts';
import type { GateFolderRun, SnapshotsRun } from './snapshots-run.ts';

const part = 'snapshots';
const filesChanged = 20;
const filesIgnored = 30_000;

/** Milliseconds by the number of files in the repository. */
const targets: Readonly<Record<number, { unchanged: number; changed: number; restore?: number }>> =
  {
    50_000: { unchanged: 200, changed: 200, restore: 400 },
  };

export async function benchSnapshots(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const files of bench.options.files) figures.push(...(await snapshotsOf(bench, files)));
  return [...figures, ...(await gateFolder(bench))];
}

async function snapshotsOf(bench: Bench, files: number): Promise<Figure[]> {
  bench.say(`snapshots: ${files} files`);
  const { status, first, second, unchanged, changed, restored } =
    await bench.programs.json<SnapshotsRun>('snapshots-run', {
      folder: bench.folder,
      files,
      changes: filesChanged,
      rounds: bench.options.brief ? 1 : 15,
    });
  const target = targets[files];
  const bare = `a bare git status: ${short(median(status))}`;
  return [
    figure(`first of a prepared slot of ${files} files`, first, undefined, bare),
    figure(`second of a slot of ${files} files`, second, undefined, bare),
    figure(`unchanged slot of ${files} files`, unchanged, target?.unchanged, bare),
    figure(`${filesChanged} changed files of ${files}`, changed, target?.changed, bare),
    figure(`restore, ${files} files`, restored, target?.restore, bare),
  ];
}

/**
 * A gate after the first one: files that the setup created are kept, and files that the gate left
 * behind are removed.
 */
async function gateFolder(bench: Bench): Promise<Figure[]> {
  const { brief } = bench.options;
  const [ignored, rounds] = brief ? [100, 1] : [filesIgnored, 5];
  bench.say(`snapshots: gate folder, ${rounds} times`);
  const { stands, left } = await bench.programs.json<GateFolderRun>('snapshots-run', {
    folder: bench.folder,
    files: 100,
    ignored,
    rounds,
  });
  return [
    figure(`gate folder whose setup has made ${ignored} files`, stands, 400, null),
    figure(`the same after a gate that left ${ignored} more`, left, undefined, null),
  ];
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
