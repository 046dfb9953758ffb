// Crash and restart of the backend; and how soon a task starts after its blocker has landed.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { eventsOf, projectOf, startBackend } from './backend.ts';
import type { Bench } from './bench.ts';
import { engineRun } from './engine-figures.ts';
import { median, short, type Figure } from './figures.ts';
import { repositoryOf, script } from './repositories.ts';

const agents = 4;
const agentWaitMs = 60_000;

export async function benchRecovery(bench: Bench): Promise<Figure[]> {
  const waits: number[] = [];
  for (let round = 0; round < bench.options.pairs; round += 1) {
    bench.say(`recovery: round ${round + 1} of ${bench.options.pairs}`);
    waits.push(await killAndReturn(bench));
  }
  return [
    {
      part: 'recovery',
      what: 'kill -9, from the new start to the first stored step of interrupted work',
      value: median(waits),
      unit: 'ms',
      target: { atMost: 1000 },
      detail: waits.map(short).join(' '),
    },
  ];
}

/**
 * The agents wait for a file that appears while no backend is running, so the next backend must
 * detect that they ended.
 */
async function killAndReturn(bench: Bench): Promise<number> {
  const flag = join(bench.folder, 'go-on');
  rmSync(flag, { force: true });
  const waiting = script(
    bench.folder,
    'waiting-agent',
    `while [ ! -e '${flag}' ]; do sleep 0.05; done\nmkdir -p made\necho x > "made/$DROVER_TASK_ID.txt"\n`,
  );
  const project = await projectOf(bench, repositoryOf(bench.folder, 100), waiting);
  try {
    const first = await startBackend(bench, project);
    for (let i = 0; i < agents; i += 1) await first.client.call('task.add', { title: `t${i}` });
    await first.client.call('run.start', {
      workers: agents,
      target: 'main',
      env: project.environment,
    });
    await untilAgentsWork(project.repository, agents);
    await first.kill('SIGKILL');
    writeFileSync(flag, '');
    await delay(300);
    const second = await startBackend(bench, project);
    const [ended] = await eventsOf(second.client, 'agent.ended', agents, agentWaitMs);
    await eventsOf(second.client, 'task.completed', agents, agentWaitMs);
    await second.kill('SIGTERM');
    return (ended?.at_ms ?? Number.NaN) - second.startedMs;
  } finally {
    project.remove();
  }
}

/** The worktrees exist and the agents' logs have started. */
async function untilAgentsWork(repository: string, count: number): Promise<void> {
  const logs = join(repository, '.drover', 'logs');
  const { globSync } = await import('node:fs');
  const endMs = Date.now() + agentWaitMs;
  while (Date.now() < endMs) {
    const begun = existsSync(logs) ? globSync('*/1.ndjson.stdout', { cwd: logs }).length : 0;
    if (begun >= count) return delay(300);
    await delay(50);
  }
  throw new Error('the agents do not start');
}

const warmTasks = 2;

export async function benchDispatch(bench: Bench): Promise<Figure[]> {
  const { folder, programs, options } = bench;
  const source = repositoryOf(folder, 100);
  const tasks = options.tasks ?? 40;
  bench.say(`dispatch: a chain of ${tasks} tasks`);
  const turns = join(folder, 'turns');
  rmSync(turns, { force: true });
  const agent = script(
    folder,
    'turn-agent',
    `date +%s%3N >> '${turns}'\nmkdir -p made\necho x > "made/$DROVER_TASK_ID.txt"\ndate +%s%3N >> '${turns}'\n`,
  );
  const request = { source, agent, tasks, workers: options.workers, warm: warmTasks };
  const one = await engineRun(programs, folder, { ...request, chain: true });
  return [
    {
      ...waitsOf(one.dispatchMs),
      what: "a blocker has landed until git prepares the dependent's worktree, p50",
      target: { atMost: 20 },
    },
    {
      ...waitsOf(betweenTurns(readFileSync(turns, 'utf8'))),
      what: "the last line of a task's agent until the first of the next one's, p50",
      target: { atMost: 100 },
    },
  ];
}

/**
 * The commit, the landing and the next start, measured by agents that print when they start and
 * end.
 */
function betweenTurns(turns: string): number[] {
  const times = turns
    .trim()
    .split('\n')
    .slice(2 * warmTasks)
    .map(Number);
  return times.flatMap((ms, at) => (at % 2 === 0 && at > 0 ? [ms - (times[at - 1] ?? ms)] : []));
}

function waitsOf(waits: readonly number[]): Omit<Figure, 'what' | 'target'> {
  const p90 = waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.9)] ?? Number.NaN;
  const detail = `p90 ${short(p90)} ms, ${waits.length} times`;
  return { part: 'dispatch', value: median(waits), unit: 'ms', detail };
}
