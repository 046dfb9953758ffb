// The engine of a fleet on a real PostgreSQL: compared with bare DBOS, on three machines compared
// with one, and among many tasks.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { sql } from 'kysely';
import { openFleet, type OpenedFleet } from '../server/durable/fleet/open.ts';
import { startPostgres, type PostgresServer } from '../test/postgres/server.ts';
import type { Bench } from './bench.ts';
import { median, short, type Figure } from './figures.ts';
import type { FleetRun } from './fleet-run.ts';

const part = 'fleet';
const machines = 3;
const agentMs = 1_000;
const queue = { queue: 'bench' };
const workflow = 'six steps';

interface Sizes {
  readonly tasksOfRun: number;
  readonly manyTasks: number;
  readonly agentTasks: number;
  readonly dispatches: number;
}

const fullSizes: Sizes = { tasksOfRun: 300, manyTasks: 10_000, agentTasks: 96, dispatches: 60 };
const briefSizes: Sizes = { tasksOfRun: 10, manyTasks: 100, agentTasks: 4, dispatches: 2 };

interface FleetBench extends Bench {
  readonly sizes: Sizes;
  readonly server: PostgresServer;
  readonly database: () => Promise<string>;
}

export async function benchFleet(bench: Bench): Promise<Figure[]> {
  const server = await startPostgres();
  let databases = 0;
  const database = (): Promise<string> => {
    databases += 1;
    return server.createDatabase(`fleet_${databases}`);
  };
  const sizes = bench.options.brief ? briefSizes : fullSizes;
  const fleetBench = { ...bench, sizes, server, database };
  try {
    return [
      await againstDbos(fleetBench),
      await amongMany(fleetBench),
      ...(await onMachines(fleetBench)),
    ];
  } finally {
    await server.close();
  }
}

async function rateOf(
  { programs, database, sizes }: FleetBench,
  kind: 'ours' | 'bare',
  prepare: (url: string) => Promise<void> = async () => undefined,
): Promise<number> {
  const url = await database();
  await prepare(url);
  const run = await programs.json<FleetRun>('fleet-run', { url, kind, tasks: sizes.tasksOfRun });
  return run.tasksPerSecond;
}

async function againstDbos(bench: FleetBench): Promise<Figure> {
  const ours: number[] = [];
  const bare: number[] = [];
  for (let pair = 0; pair < bench.options.pairs; pair += 1) {
    bench.say(`fleet: against bare DBOS, pair ${pair + 1} of ${bench.options.pairs}`);
    const runs = [
      async () => ours.push(await rateOf(bench, 'ours')),
      async () => bare.push(await rateOf(bench, 'bare')),
    ];
    for (const one of pair % 2 === 0 ? runs : runs.toReversed()) await one();
  }
  const ratios = ours.map((rate, at) => rate / (bare[at] ?? Number.NaN));
  return {
    part,
    what: 'tasks a second, six steps each, eight at once, against bare DBOS',
    value: median(ratios),
    unit: '×',
    target: { atLeast: 0.8 },
    detail: `${short(median(ours))} against ${short(median(bare))}; ratios ${ratios.map(short).join(' ')}`,
  };
}

async function amongMany(bench: FleetBench): Promise<Figure> {
  const { manyTasks } = bench.sizes;
  const few: number[] = [];
  const many: number[] = [];
  for (let pair = 0; pair < bench.options.pairs; pair += 1) {
    bench.say(`fleet: among many tasks, pair ${pair + 1} of ${bench.options.pairs}`);
    const runs = [
      async () => few.push(await rateOf(bench, 'ours')),
      async () => many.push(await rateOf(bench, 'ours', (url) => fill(url, manyTasks))),
    ];
    for (const one of pair % 2 === 0 ? runs : runs.toReversed()) await one();
  }
  const ratios = many.map((rate, at) => (few[at] ?? Number.NaN) / rate);
  return {
    part,
    what: `the time of a task among ${manyTasks} others against none`,
    value: median(ratios),
    unit: '×',
    target: { atMost: 1.2 },
    detail: `ratios ${ratios.map(short).join(' ')}`,
  };
}

/** Half of the tasks have ended, and half wait in a closed queue. */
async function fill(url: string, manyTasks: number): Promise<void> {
  const fleet = await openFleet({ url });
  await sql`
    insert into dbos.workflow_status (workflow_uuid, status, name, queue_name, priority, created_at, updated_at,
      recovery_attempts, application_version, application_id, application_name, executor_id, serialization)
    select 'other ' || n, case when n % 2 = 0 then 'SUCCESS' else 'ENQUEUED' end, ${workflow}::text, 'closed',
      1000000000, n, n, 0, 'drover-1', '', 'drover', '', 'portable_json'
    from generate_series(1, ${manyTasks}::int) n`.execute(fleet.db);
  await sql`
    insert into drover_durable.steps (workflow_id, name, output)
    select 'other ' || n, 'step ' || s, '1'
    from generate_series(2, ${manyTasks}::int, 2) n, generate_series(1, 6) s`.execute(fleet.db);
  await fleet.close();
}

async function onMachines(bench: FleetBench): Promise<Figure[]> {
  const { agentTasks, dispatches } = bench.sizes;
  bench.say('fleet: on one machine and on three');
  const url = await bench.database();
  const here = await openFleet({ url });
  try {
    const first = await startMachine(bench, url);
    const latencies = await dispatchTimes(here, dispatches);
    const one = await agentsTime(here, 'one', agentTasks);
    const others = [await startMachine(bench, url), await startMachine(bench, url)];
    const three = await agentsTime(here, 'three', agentTasks);
    await Promise.all([first, ...others].map((machine) => machine.close()));
    return [
      {
        part,
        what: `${machines} machines against one, an agent that sleeps ${agentMs} ms`,
        value: one / three,
        unit: '×',
        target: { atLeast: 2.7 },
        detail: `${agentTasks} tasks in ${short(one)} and ${short(three)} ms`,
      },
      {
        part,
        what: 'from the start of a task to its end on another machine, six steps, p50',
        value: median(latencies),
        unit: 'ms',
        target: { atMost: 100 },
        detail: `longest ${short(Math.max(...latencies))}`,
      },
    ];
  } finally {
    await here.close();
  }
}

interface Machine {
  readonly close: () => Promise<void>;
}

async function startMachine({ programs }: Bench, url: string): Promise<Machine> {
  const child = spawn(process.execPath, [programs.pathOf('fleet-run'), '--url', url], {
    env: { PATH: process.env['PATH'] ?? '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await once(createInterface({ input: child.stdout }), 'line');
  return {
    close: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

async function dispatchTimes(
  { durable }: OpenedFleet<unknown>,
  dispatches: number,
): Promise<readonly number[]> {
  const times: number[] = [];
  for (let n = 0; n < dispatches; n += 1) {
    const beganAtMs = performance.now();
    await durable.start(workflow, `dispatch ${n}`, { workMs: 0 }, queue);
    await durable.wait(`dispatch ${n}`);
    times.push(performance.now() - beganAtMs);
  }
  return times;
}

async function agentsTime(
  { durable }: OpenedFleet<unknown>,
  name: string,
  agentTasks: number,
): Promise<number> {
  const ids = Array.from({ length: agentTasks }, (_, index) => `${name} ${index}`);
  const beganAtMs = performance.now();
  await Promise.all(ids.map((id) => durable.start(workflow, id, { workMs: agentMs }, queue)));
  await Promise.all(ids.map((id) => durable.wait(id)));
  return performance.now() - beganAtMs;
}
