// Runs the same plan with the same agent in another program, in alternating pairs.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { Bench } from './bench.ts';
import { commandProject, drover, startDrover } from './drover-command.ts';
import { median, short, type Figure } from './figures.ts';
import { git, smallAgent } from './repositories.ts';

/** The `adapter` that an adapter file exports. */
export interface Adapter {
  /** Commands to run first, one after the other, in a fresh clone with `main` checked out. */
  readonly prepare: (request: AdapterWish) => readonly (readonly string[])[];
  /**
   * The command that runs all tasks. If it does not exit by itself, it is stopped once they have
   * landed.
   */
  readonly run: (request: AdapterWish) => readonly string[];
  readonly environment: (request: AdapterWish) => Readonly<Record<string, string>>;
}

export interface AdapterWish {
  readonly program: string;
  readonly repository: string;
  /** Writes `made/<id>.txt`, where the id comes from DROVER_TASK_ID or TASK_ID. */
  readonly agent: string;
  readonly titles: readonly string[];
  readonly workers: number;
}

const waitMaxMs = 300_000;
const lookMs = 20;

export async function benchAgainst(bench: Bench): Promise<Figure[]> {
  const { against, pairs, workers } = bench.options;
  if (against === null) throw new Error('against needs --program and --adapter');
  const file = pathToFileURL(resolve(against.adapter)).href;
  const { adapter } = (await import(file)) as { readonly adapter: Adapter };
  const titles = Array.from({ length: bench.options.tasks ?? 100 }, (_, at) => `Make file ${at}`);
  const ratios: number[] = [];
  const own: number[] = [];
  const others: number[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    bench.say(`against: pair ${pair + 1} of ${pairs}`);
    const mine = async (): Promise<void> => void own.push(await ours(bench, titles));
    const theirs = async (): Promise<void> =>
      void others.push(await theirRun(bench, adapter, resolve(against.program), titles));
    for (const side of pair % 2 === 0 ? [mine, theirs] : [theirs, mine]) await side();
    ratios.push((own.at(-1) ?? Number.NaN) / (others.at(-1) ?? Number.NaN));
  }
  return [
    {
      part: 'against',
      what: `${titles.length} tasks by ${workers}: our time divided by theirs, to the last landing`,
      value: median(ratios),
      unit: '',
      target: null,
      detail: `${ratios.map(short).join(' ')}; ours ${own.map(short).join(' ')} ms, theirs ${others.map(short).join(' ')} ms`,
    },
  ];
}

async function ours(bench: Bench, titles: readonly string[]): Promise<number> {
  const project = await commandProject(bench, smallAgent(bench.folder));
  try {
    for (const title of titles) await drover(bench, project, ['add', title]);
    const startedMs = performance.now();
    const child = startDrover(bench, project, ['run', '--workers', `${bench.options.workers}`]);
    const ended = once(child, 'exit');
    const landedMs = await untilLanded(project.repository, titles.length);
    await ended;
    return landedMs - startedMs;
  } finally {
    project.remove();
  }
}

async function theirRun(
  bench: Bench,
  adapter: Adapter,
  program: string,
  titles: readonly string[],
): Promise<number> {
  const project = await commandProject(bench, smallAgent(bench.folder));
  const { repository } = project;
  const agent = smallAgent(bench.folder);
  const request = { program, repository, agent, titles, workers: bench.options.workers };
  const env = { ...project.environment, ...adapter.environment(request) };
  const start = ([command = '', ...args]: readonly string[]) =>
    spawn(command, args, { cwd: repository, env, stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    for (const command of adapter.prepare(request)) await once(start(command), 'exit');
    const startedMs = performance.now();
    const child = start(adapter.run(request));
    const ended = once(child, 'exit');
    const landedMs = await untilLanded(repository, titles.length);
    child.kill('SIGTERM');
    await ended;
    return landedMs - startedMs;
  } finally {
    project.remove();
  }
}

/** Returns whether `main` has this many files from agents. */
async function untilLanded(repository: string, count: number): Promise<number> {
  const endMs = performance.now() + waitMaxMs;
  while (performance.now() < endMs) {
    const made = git(repository, 'ls-tree', '--name-only', 'main', 'made/');
    if (made.split('\n').filter((line) => line !== '').length >= count) return performance.now();
    await delay(lookMs);
  }
  throw new Error(`not all of ${count} tasks have landed`);
}
