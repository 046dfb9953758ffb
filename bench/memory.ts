// Measures the peak memory of a run: the command, the backend and the shells that start git.

import { once } from 'node:events';
import type { Bench } from './bench.ts';
import { backendPid, commandProject, drover, startDrover } from './drover-command.ts';
import type { Figure } from './figures.ts';
import { droverUse } from './process-use.ts';
import { smallAgent } from './repositories.ts';

const lookMs = 100;

export async function benchMemory(bench: Bench): Promise<Figure[]> {
  const tasks = bench.options.tasks ?? 100;
  bench.say(`memory: a run of ${tasks} tasks`);
  const project = await commandProject(bench, smallAgent(bench.folder));
  try {
    for (let i = 0; i < tasks; i += 1) await drover(bench, project, ['add', `Make file ${i}`]);
    const child = startDrover(bench, project, ['run', '--workers', `${bench.options.workers}`]);
    let most = { sum: 0, command: 0, backend: 0, shells: 0 };
    const timer = setInterval(() => {
      const now = droverUse(child.pid ?? 0, backendPid(project.repository));
      if (now.sum > most.sum) most = now;
    }, lookMs);
    await once(child, 'exit');
    clearInterval(timer);
    return [
      {
        part: 'memory',
        what: `command, backend and shells in a run of ${tasks} tasks`,
        value: most.sum,
        unit: 'MB',
        target: { atMost: 200 },
        detail: `command ${most.command}, backend ${most.backend}, shells ${most.shells}`,
      },
    ];
  } finally {
    project.remove();
  }
}
