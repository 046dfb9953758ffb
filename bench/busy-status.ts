// Measures how long reading a plan takes while agents work on it.

import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import {
  commandClient,
  type CommandProject,
  commandProject,
  drover,
  startDrover,
} from './drover-command.ts';
import { median, short, type Figure } from './figures.ts';
import { script } from './repositories.ts';

/** Each agent ends after a second, so that agents start and land all the time. */
const agentText =
  'mkdir -p made\nfor i in 1 2 3 4 5 6 7 8 9 10; do echo "line $i"; sleep 0.1; done\necho x > "made/$DROVER_TASK_ID.txt"\n';
const startWaitMaxMs = 60_000;

export async function benchBusyStatus(bench: Bench): Promise<Figure[]> {
  const { brief, workers } = bench.options;
  const tasks = brief ? 20 : 300;
  const times = brief ? 1 : 10;
  bench.say(`start: drover status of ${tasks} tasks beside ${workers} agents, ${times} times`);
  const project = await commandProject(bench, script(bench.folder, 'busy-agent', agentText));
  try {
    await addTasks(project, tasks);
    const run = startDrover(bench, project, ['run', '--workers', `${workers}`]);
    const ended = once(run, 'exit');
    // Returns whether this many agents run while only a few tasks are done.
    await untilAgentsWork(project, brief ? 1 : workers);
    const waits: number[] = [];
    for (let i = 0; i < times; i += 1) {
      const startedMs = performance.now();
      await drover(bench, project, ['status']);
      waits.push(performance.now() - startedMs);
      await delay(100);
    }
    if (run.exitCode !== null) throw new Error('the run was over before the last look');
    run.kill('SIGKILL');
    await ended;
    return [
      {
        part: 'start',
        what: `status of ${tasks} tasks while ${workers} agents work: wall`,
        value: median(waits),
        unit: 'ms',
        target: { atMost: 300 },
        detail: waits.map(short).join(' '),
      },
    ];
  } finally {
    project.remove();
  }
}

async function addTasks(project: CommandProject, count: number): Promise<void> {
  const client = await commandClient(project);
  for (let i = 0; i < count; i += 1) await client.call('task.add', { title: `Make file ${i}` });
  client.close();
}

async function untilAgentsWork(project: CommandProject, workers: number): Promise<void> {
  const endMs = Date.now() + startWaitMaxMs;
  while (Date.now() < endMs) {
    const client = await commandClient(project);
    const { tasks } = await client.call('status', {});
    client.close();
    if (tasks.filter(({ status }) => status === 'in_progress').length >= workers) return;
    await delay(100);
  }
  throw new Error('the agents do not start');
}
