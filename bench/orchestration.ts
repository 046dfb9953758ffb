// Compares the engine with the bare git commands, in alternating pairs on repositories of several
// sizes.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Bench } from './bench.ts';
import { argumentsOf } from './bundle.ts';
import { engineRun, type EngineRun } from './engine-figures.ts';
import { median, short, type Figure } from './figures.ts';
import type { Mode } from './options.ts';
import { treeUse } from './process-use.ts';
import { repositoryOf, smallAgent } from './repositories.ts';

const run = promisify(execFile);

interface FloorRun {
  readonly ms_per_task: number;
  readonly processes_per_task: number;
}

/** The keeper's shell and the agent. */
const agentProcesses = 2;

export async function benchOrchestration(bench: Bench): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const files of bench.options.files) {
    for (const mode of bench.options.modes) {
      const found = await compare(bench, files, mode);
      // A large repository takes long, so partial results are printed immediately.
      for (const { what, value, unit } of found) bench.say(`${what}: ${short(value)} ${unit}`);
      figures.push(...found);
    }
  }
  return figures;
}

/** Large repositories take long, and fewer tasks are enough for them. */
function sizeOf(bench: Bench, files: number, mode: Mode): { tasks: number; pairs: number } {
  const { tasks, pairs } = bench.options;
  const isLarge = files > 5_000;
  const usual = isLarge ? (mode === 'cold' ? 16 : 32) : mode === 'cold' && files > 500 ? 48 : 100;
  return { tasks: tasks ?? usual, pairs: isLarge ? Math.min(pairs, 3) : pairs };
}

async function compare(bench: Bench, files: number, mode: Mode): Promise<Figure[]> {
  const { folder, options, programs } = bench;
  const source = repositoryOf(folder, files);
  const agent = smallAgent(folder);
  const { workers } = options;
  const { tasks, pairs } = sizeOf(bench, files, mode);
  const floors: number[] = [];
  const engines: EngineRun[] = [];
  const floorOnce = async (): Promise<void> => {
    floors.push((await floor(bench, { source, agent, tasks, workers, mode })).ms_per_task);
  };
  const engineOnce = async (): Promise<void> => {
    const warm = mode === 'pool' ? workers : 0;
    engines.push(await engineRun(programs, folder, { source, agent, tasks, workers, warm }));
  };
  for (let pair = 0; pair < pairs; pair += 1) {
    bench.say(`orchestration, ${files} files, ${mode}: pair ${pair + 1} of ${pairs}`);
    if (pair % 2 === 0) await floorOnce();
    await engineOnce();
    if (pair % 2 === 1) await floorOnce();
  }
  const ratios = engines.map((engine, at) => engine.msPerTask / (floors[at] ?? Number.NaN));
  const name = `${files} files, ${mode}, ${tasks} tasks, ${workers} workers`;
  const part = 'orchestration';
  const figures: Figure[] = [
    {
      part,
      what: `${name}: time against the floor`,
      value: median(ratios),
      unit: '×',
      target: { atMost: 2 },
      detail: `${short(median(engines.map((one) => one.msPerTask)))} against ${short(median(floors))} ms a task; ratios ${ratios.map(short).join(' ')}`,
    },
    {
      part,
      what: `${name}: processes a task`,
      value: median(engines.map((one) => one.gitPerTask)) + agentProcesses,
      unit: '',
      target: { atMost: 9 },
    },
    {
      part,
      what: `${name}: tasks in trouble or not completed`,
      value: engines.reduce((sum, one) => sum + one.troubles + one.tasks - one.completed, 0),
      unit: '',
      target: { atMost: 0 },
    },
  ];
  if (mode === 'pool' && files <= 5_000 && tasks > 2 * workers) {
    figures.push(await cpuFigure(bench, { source, agent, tasks, workers, mode }, name, engines));
  }
  return figures;
}

interface FloorWish {
  readonly source: string;
  readonly agent: string;
  readonly tasks: number;
  readonly workers: number;
  readonly mode: Mode;
}

async function floor(bench: Bench, request: FloorWish): Promise<FloorRun> {
  const { stdout } = await run(process.execPath, [
    join(import.meta.dirname, 'floor.mjs'),
    ...argumentsOf({
      repo: request.source,
      tmp: bench.folder,
      agent: request.agent,
      tasks: request.tasks,
      workers: request.workers,
      mode: request.mode,
      runs: 1,
      files: 1,
      json: true,
    }),
  ]);
  return JSON.parse(stdout) as FloorRun;
}

/** CPU time hardly depends on other running programs. */
async function cpuFigure(
  bench: Bench,
  request: FloorWish,
  name: string,
  engines: readonly EngineRun[],
): Promise<Figure> {
  bench.say(`orchestration, ${name}: CPU time of the floor`);
  const cpuOf = async (tasks: number): Promise<number> => {
    const before = treeUse(process.pid).cpuMs;
    await floor(bench, { ...request, tasks });
    return treeUse(process.pid).cpuMs - before;
  };
  const perTask: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const few = await cpuOf(request.workers);
    const many = await cpuOf(request.tasks);
    perTask.push((many - few) / (request.tasks - request.workers));
  }
  const engine = median(engines.map((one) => one.cpuMsPerTask));
  return {
    part: 'orchestration',
    what: `${name}: CPU time against the floor`,
    value: engine / median(perTask),
    unit: '×',
    target: null,
    detail: `${short(engine)} against ${short(median(perTask))} ms a task; of ours ${short(median(engines.map((one) => one.backendCpuMsPerTask)))} in the backend`,
  };
}

export async function benchFailures(bench: Bench): Promise<Figure[]> {
  const { folder, programs, options } = bench;
  const tasks = options.tasks ?? 500;
  bench.say(`failures: ${tasks} tasks, 16 workers`);
  const source = repositoryOf(folder, 100);
  const agent = smallAgent(folder);
  const one = await engineRun(programs, folder, { source, agent, tasks, workers: 16 });
  return [
    {
      part: 'failures',
      what: `${tasks} tasks, 16 workers: in trouble or not completed`,
      value: one.troubles + tasks - one.completed,
      unit: '',
      target: { atMost: 0 },
      detail: `${short(one.msPerTask)} ms a task, ${short(one.gitPerTask)} git processes, backend at ${short(one.backendRssMb)} MB`,
    },
  ];
}
