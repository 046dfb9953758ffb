// A fleet with a distant database: no-op tasks on three machines, and the time of the turns.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fleet, makeFleet } from '../test/fleet/support/fleet.ts';
import { startWorkers } from '../test/fleet/support/workers.ts';
import { RoundTripCounter } from '../test/postgres/round-trips.ts';
import type { Bench } from './bench.ts';
import { short, type Figure } from './figures.ts';

const part = 'distance';
const awayMs = 10;
const machines = ['one', 'two', 'three'];
const agentsOfOne = 3;
/** The agent succeeds without changes. */
const noOp = 'cat > /dev/null';

export async function benchDistance(bench: Bench): Promise<Figure[]> {
  const tasks = bench.options.tasks ?? (bench.options.brief ? 6 : 1_000);
  const figures: Figure[] = [];
  for (const ms of [0, awayMs]) {
    bench.say(`distance: ${tasks} tasks, the database ${ms} ms away`);
    const trips = new RoundTripCounter();
    const fleet = await makeFleet({
      machines: ['desk', ...machines],
      agent: noOp,
      settings: '[gate]\ncommand = "true"\n',
      databaseAwayMs: ms,
      onDatabaseRoad: trips.listener,
    });
    try {
      figures.push(...(await noOpTasks(fleet, tasks, ms, trips)));
    } finally {
      await fleet.end(false);
    }
  }
  return figures;
}

async function noOpTasks(
  fleet: Fleet,
  tasks: number,
  ms: number,
  trips: RoundTripCounter,
): Promise<readonly Figure[]> {
  const desk = fleet.machine('desk');
  desk.writeUserSettings('[fleet]\nagents = 0\n');
  await desk.expect(0, ['init']);
  const lines = Array.from({ length: tasks }, (_, n) => ({
    id: `N-${n}`,
    type: 'task',
    title: `Do nothing ${n}`,
  }));
  const path = join(fleet.folder, 'plan.jsonl');
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await desk.expect(0, ['import', path]);
  await startWorkers(fleet, machines, agentsOfOne);
  const before = await commitsOf(fleet);
  const { all, inTurns } = trips.counts;
  await desk.start(['run']).ended;
  const commits = (await commitsOf(fleet)) - before;
  const [told] = await fleet.query<{ seconds: number; ended: number }>(
    `select (max(at_ms) filter (where type = 'agent.ended')
       - min(at_ms) filter (where type = 'run.started')) / 1000.0::float8 as seconds,
       count(*) filter (where type = 'agent.ended')::int as ended from events`,
  );
  const seconds = told?.seconds ?? Number.NaN;
  const rate = (told?.ended ?? 0) / seconds;
  const where = ms === 0 ? 'the database near' : `the database ${ms} ms away`;
  return [
    {
      part,
      what: `no-op tasks a second, ${machines.length} machines with ${agentsOfOne} agents, ${where}`,
      value: rate,
      unit: '/s',
      target: { atLeast: ms === 0 ? 1_000 / 180 : 4 },
      detail: `${tasks} tasks in ${short(seconds)} s, ${short(commits / tasks)} transactions a task`,
    },
    // Without a distance, requests that are sent together are answered before all of them are sent.
    ...(ms === 0
      ? []
      : [tripsFigure(trips.counts.all - all, trips.counts.inTurns - inTurns, tasks)]),
  ];
}

function tripsFigure(all: number, inTurns: number, tasks: number): Figure {
  return {
    part,
    what: 'round trips to the database for each no-op task, all processes together',
    value: all / tasks,
    unit: '',
    target: null,
    detail: `${short(inTurns / tasks)} of them while all other writers wait`,
  };
}

async function commitsOf(fleet: Fleet): Promise<number> {
  const rows = await fleet.query<{ n: number }>(
    `select xact_commit::int as n from pg_stat_database where datname = current_database()`,
  );
  return rows[0]?.n ?? 0;
}
