// Measures the cost of a command, and how soon a run has a running agent, a landing, and an end.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from './bench.ts';
import { benchBusyStatus } from './busy-status.ts';
import {
  commandClient,
  type CommandProject,
  commandProject,
  costOf,
  drover,
  startDrover,
} from './drover-command.ts';
import { median, short, type Figure } from './figures.ts';
import { script } from './repositories.ts';

/** The agent prints its start time in milliseconds, and creates a file. */
const agentText =
  'date +%s%3N > "$HOME/agent-began"\nmkdir -p made\necho x > "made/$DROVER_TASK_ID.txt"\n';

export async function benchStart(bench: Bench): Promise<Figure[]> {
  const agent = script(bench.folder, 'starting-agent', agentText);
  const project = await commandProject(bench, agent);
  const figures: Figure[] = [];
  try {
    figures.push(...(await commands(bench, project)), ...(await runs(bench, project)));
  } finally {
    project.remove();
  }
  return [...figures, ...(await benchBusyStatus(bench))];
}

async function commands(bench: Bench, project: CommandProject): Promise<Figure[]> {
  const times = bench.options.brief ? 1 : 10;
  for (let i = 0; i < 3; i += 1) await drover(bench, project, ['add', `Look at part ${i}`]);
  const figures: Figure[] = [];
  for (const [args, most] of [
    [['--version'], null],
    [['--help'], null],
    [['status'], { cpu: 120, wall: 150 }],
  ] as const) {
    const name = args.join(' ');
    bench.say(`start: drover ${name}, ${times} times`);
    await drover(bench, project, args);
    const { cpuMs, wallMs } = await costOf(bench, project, args, times);
    const part = { part: 'start', unit: 'ms' };
    const targets = most === null ? [null, null] : [{ atMost: most.cpu }, { atMost: most.wall }];
    figures.push({ ...part, what: `${name}: CPU`, value: cpuMs, target: targets[0] ?? null });
    figures.push({ ...part, what: `${name}: wall`, value: wallMs, target: targets[1] ?? null });
  }
  return figures;
}

interface RunTimes {
  readonly agentMs: number;
  readonly landedMs: number;
  readonly exitMs: number;
}

/** A first run completes the tasks left over from the reads; each measured run has its own task. */
async function runs(bench: Bench, project: CommandProject): Promise<Figure[]> {
  await drover(bench, project, ['run']);
  const cold: RunTimes[] = [];
  const warm: RunTimes[] = [];
  for (let i = 0; i < bench.options.pairs; i += 1) {
    bench.say(`start: run ${i + 1} of ${bench.options.pairs}`);
    await drover(bench, project, ['server', 'stop']);
    cold.push(await oneRun(bench, project));
    warm.push(await oneRun(bench, project));
  }
  const figure = (what: string, values: readonly number[], atMost: number): Figure => ({
    part: 'start',
    what,
    value: median(values),
    unit: 'ms',
    target: { atMost },
    detail: values.map(short).join(' '),
  });
  return [
    figure(
      'run, no backend: to the first agent',
      cold.map((one) => one.agentMs),
      400,
    ),
    figure(
      'run, no backend: to the first landing',
      cold.map((one) => one.landedMs),
      600,
    ),
    figure(
      'run, warm backend: to the first landing',
      warm.map((one) => one.landedMs),
      300,
    ),
    figure(
      'from the last landing to the exit',
      [...cold, ...warm].map((one) => one.exitMs),
      100,
    ),
  ];
}

async function oneRun(bench: Bench, project: CommandProject): Promise<RunTimes> {
  await drover(bench, project, ['add', 'Make one more file']);
  const startedMs = Date.now();
  const child = startDrover(bench, project, ['run']);
  await once(child, 'exit');
  const endedMs = Date.now();
  const agentMs = Number(readFileSync(join(project.home, 'agent-began'), 'utf8')) - startedMs;
  const landedAtMs = await lastLanding(project);
  return { agentMs, landedMs: landedAtMs - startedMs, exitMs: endedMs - landedAtMs };
}

async function lastLanding(project: CommandProject): Promise<number> {
  const client = await commandClient(project);
  const { events } = await client.call('events.read', { type: 'task.completed', limit: 10_000 });
  client.close();
  return events.at(-1)?.at_ms ?? Number.NaN;
}
