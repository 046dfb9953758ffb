// The store with many writers, at 100 and at 10,000 tasks, and the engine's total work for a task
// in both.

import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from './bench.ts';
import { engineRun } from './engine-figures.ts';
import { median, short, type Figure } from './figures.ts';
import { repositoryOf, smallAgent } from './repositories.ts';
import type { StoreRun } from './store-run.ts';

const part = 'store';
const fewTasks = 100;

function manyOf({ options }: Bench): number {
  return options.brief ? 200 : 10_000;
}

export async function benchStore(bench: Bench): Promise<Figure[]> {
  const manyTasks = manyOf(bench);
  const few: StoreRun[] = [];
  const many: StoreRun[] = [];
  const rounds = Math.min(bench.options.pairs, 3);
  for (let round = 0; round < rounds; round += 1) {
    bench.say(`store: round ${round + 1} of ${rounds}`);
    few.push(await storeRun(bench, fewTasks));
    many.push(await storeRun(bench, manyTasks));
  }
  const rates = few.map((one) => one.transitionsPerSecond);
  const ratios = many.map((one, at) => (rates[at] ?? Number.NaN) / one.transitionsPerSecond);
  const snapshots = many.map((one) => one.snapshotMs);
  return [
    {
      part,
      what: 'transitions, eight writers, on the disk',
      value: median(rates),
      unit: 'a second',
      target: { atLeast: 1000 },
      detail: `a single writer ${short(median(few.map((one) => one.singleWriterPerSecond)))}`,
    },
    {
      part,
      what: `a transition among ${manyTasks} tasks against ${fewTasks}`,
      value: median(ratios),
      unit: '×',
      target: { atMost: 1.2 },
      detail: `ratios ${ratios.map(short).join(' ')}`,
    },
    {
      part,
      what: `snapshot of ${manyTasks} tasks with its JSON`,
      value: median(snapshots),
      unit: 'ms',
      target: { atMost: 250 },
      detail: `${short((many[0]?.snapshotBytes ?? 0) / 1e6)} MB`,
    },
    await engineAmongMany(bench),
  ];
}

async function storeRun(bench: Bench, tasks: number): Promise<StoreRun> {
  const folder = mkdtempSync(join(bench.folder, 'store-'));
  try {
    const database = join(folder, 'drover.db');
    return await bench.programs.json<StoreRun>('store-run', { database, tasks });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function engineAmongMany(bench: Bench): Promise<Figure> {
  const { folder, programs, options } = bench;
  const source = repositoryOf(folder, 100);
  const agent = smallAgent(folder);
  const tasks = options.tasks ?? fewTasks;
  // Workers that are free while work lands take other tasks if any exist. Tasks that started at one
  // end of the measured period balance tasks at the other end.
  const edge = Math.floor(tasks / 5);
  const request = { source, agent, tasks, edge, workers: options.workers, warm: options.workers };
  const few: number[] = [];
  const many: number[] = [];
  for (let pair = 0; pair < options.pairs; pair += 1) {
    bench.say(`store: the engine among many tasks, pair ${pair + 1} of ${options.pairs}`);
    const runs = [
      async () => few.push((await engineRun(programs, folder, request)).cpuMsPerTask),
      async () =>
        many.push(
          (await engineRun(programs, folder, { ...request, others: manyOf(bench) - tasks }))
            .cpuMsPerTask,
        ),
    ];
    for (const one of pair % 2 === 0 ? runs : runs.toReversed()) await one();
  }
  const ratios = many.map((ms, at) => ms / (few[at] ?? Number.NaN));
  return {
    part,
    what: `the engine's CPU time for a task, ${manyOf(bench)} in scope against ${fewTasks}`,
    value: median(ratios),
    unit: '×',
    target: { atMost: 1.2 },
    detail: `${short(median(many))} against ${short(median(few))} ms; ratios ${ratios.map(short).join(' ')}`,
  };
}
