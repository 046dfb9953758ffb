// A whole fleet: workers in separate namespaces, a PostgreSQL server, and a git server. Compares
// three machines with one, with agents that sleep. Measures the time from a claim until the work is
// on another machine, and the cost of a task among many others.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Fleet, makeFleet } from '../test/fleet/support/fleet.ts';
import type { Bench } from './bench.ts';
import { median, short, type Figure } from './figures.ts';

const part = 'machines';
const agentsOfOne = 4;
const fullSizes = { agentSeconds: 10, tasks: 36, otherTasks: 10_000, costTasks: 100 };
const briefSizes = { agentSeconds: 1, tasks: 3, otherTasks: 20, costTasks: 3 };

const sleeping = (seconds: number): string => `
cat > /dev/null
case "$id" in S-*) sleep ${seconds} ;; esac
echo "work of $id" > "$id.txt"
`;

export async function benchMachines(bench: Bench): Promise<Figure[]> {
  const sizes = bench.options.brief ? briefSizes : fullSizes;
  const { agentSeconds, tasks, otherTasks, costTasks } = sizes;
  const fleet = await makeFleet({
    machines: ['desk', 'one', 'two', 'three'],
    agent: sleeping(agentSeconds),
    settings: '[gate]\ncommand = "true"\n',
  });
  try {
    fleet.machine('desk').writeUserSettings('[fleet]\nagents = 0\n');
    await fleet.machine('desk').expect(0, ['init']);
    await startWorker(fleet, 'one', agentsOfOne);
    await timeOf(fleet, 'warm', plan('W', agentsOfOne));
    bench.say('machines: one');
    const one = await timeOf(fleet, 'one', plan('S-1', tasks));
    for (const name of ['two', 'three']) await startWorker(fleet, name, agentsOfOne);
    await timeOf(fleet, 'warm again', plan('V', 3 * agentsOfOne));
    bench.say('machines: three');
    const three = await timeOf(fleet, 'three', plan('S-3', tasks));
    const waits = await dispatchTimes(fleet);
    bench.say('machines: a task among many');
    const few = await timeOf(fleet, 'few', plan('A', costTasks));
    const others = Array.from({ length: otherTasks }, (_, n) => ({ id: `O-${n}`, first: 'H' }));
    await addAll(fleet, 'others', [{ id: 'H' }, ...others], 'others');
    const many = await timeOf(fleet, 'many', plan('B', costTasks));
    return [
      {
        part,
        what: `3 machines against 1, ${agentsOfOne} agents each that sleep ${agentSeconds} s`,
        value: one / three,
        unit: '×',
        target: { atLeast: 2.7 },
        detail: `${tasks} tasks in ${short(one)} and ${short(three)} ms`,
      },
      {
        part,
        what: 'a claim until the task has begun on another machine, its worktree made, p50',
        value: median(waits),
        unit: 'ms',
        target: { atMost: 100 },
        detail: `${waits.length} times, longest ${short(Math.max(...waits))}`,
      },
      {
        part,
        what: `the time of a task among ${otherTasks} others against none, on three machines`,
        value: many / few,
        unit: '×',
        target: { atMost: 1.2 },
        detail: `${costTasks} tasks in ${short(few)} and ${short(many)} ms`,
      },
    ];
  } finally {
    await fleet.end(false);
  }
}

async function startWorker(fleet: Fleet, name: string, agents: number): Promise<void> {
  const machine = fleet.machine(name);
  await machine.expect(0, ['init']);
  await machine.startWorker(['--agents', String(agents)]);
}

interface Planned {
  readonly id: string;
  /** Its blocker. */
  readonly first?: string;
}

function plan(prefix: string, count: number): readonly Planned[] {
  return Array.from({ length: count }, (_, n) => ({ id: `${prefix}-${n}` }));
}

async function addAll(
  fleet: Fleet,
  epic: string,
  planned: readonly Planned[],
  file: string,
): Promise<void> {
  const lines = [
    { id: epic, type: 'epic', title: epic },
    ...planned.map(({ id, first }) => ({
      id,
      type: 'task',
      title: `Write ${id}.txt`,
      epic_id: epic,
      ...(first === undefined ? {} : { blocked_by: [first] }),
    })),
  ];
  const path = join(fleet.folder, `${file.replaceAll(' ', '-')}.jsonl`);
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await fleet.machine('desk').expect(0, ['import', path]);
}

/** Milliseconds from the start of the run to the last landing. */
async function timeOf(fleet: Fleet, name: string, planned: readonly Planned[]): Promise<number> {
  const epic = `E-${name.replaceAll(' ', '-')}`;
  await addAll(fleet, epic, planned, name);
  const run = await fleet.machine('desk').start(['run', '--epic', epic, '--land', 'task']).ended;
  if (run.code !== 0) throw new Error(`the run of ${epic} ended with ${run.code}: ${run.stderr}`);
  const [times] = await fleet.query<{ from_ms: string; to_ms: string }>(
    `select min(at_ms) filter (where type = 'run.started') as from_ms,
       max(at_ms) filter (where type = 'task.completed') as to_ms
     from events where run_id = (select id from runs where epic_id = $1)`,
    [epic],
  );
  return Number(times?.to_ms) - Number(times?.from_ms);
}

async function dispatchTimes(fleet: Fleet): Promise<readonly number[]> {
  const rows = await fleet.query<{ ms: string }>(
    `select s.at_ms - c.at_ms as ms from events c join events s on s.task_id = c.task_id
     where c.type = 'task.claimed' and s.type = 'task.started' and c.task_id like 'S-%'`,
  );
  return rows.map(({ ms }) => Number(ms));
}
