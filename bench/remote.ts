// Remote attempts: the overhead of a worker for an attempt that does nothing, and the number of
// concurrent attempts.

import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Backend, eventsOf, projectOf, startBackend } from './backend.ts';
import type { Bench } from './bench.ts';
import { median, short, type Figure } from './figures.ts';
import { countCpu, type CpuCount } from './process-use.ts';
import { benchLines, benchTransfer } from './remote-runtime.ts';
import { repositoryOf, script, smallAgent } from './repositories.ts';

const waitMs = 300_000;

export async function benchRemote(bench: Bench): Promise<Figure[]> {
  return [
    ...(await benchLines(bench)),
    ...(await benchTransfer(bench)),
    ...(await overhead(bench)),
    ...(await atOnce(bench)),
  ];
}

const settingsOf = (max: number): string => `[remote]\nprovisioner = "process"\nmax = ${max}\n`;

/**
 * Runs tasks in sequence, every second one on a worker, so that both kinds run under the same load.
 */
async function overhead(bench: Bench): Promise<Figure[]> {
  const pairs = bench.options.brief ? 2 : 12;
  bench.say(`remote: ${pairs} attempts here and ${pairs} on a worker, in turn`);
  const agent = smallAgent(bench.folder);
  const project = await projectOf(bench, repositoryOf(bench.folder, 100), agent);
  try {
    writeFileSync(join(project.repository, '.drover.toml'), settingsOf(1));
    const backend = await startBackend(bench, project);
    // Called before its first run, whose own group is created beside it.
    const cpu = countCpu(backend.pid);
    const chain = new Chain(backend, project.environment);
    const inTurn = Array.from({ length: 2 * pairs }, (_, at) => at % 2 === 1);
    const tookMs = await chain.run(inTurn);
    // The first runs create the slot, and load code that is loaded only once.
    const times = { local: ofKind(tookMs, 0), remote: ofKind(tookMs, 1) };
    const used = cpu === null ? [] : [await cpuOver(cpu, chain, pairs)];
    await backend.kill('SIGTERM');
    cpu?.remove();
    const wall: Figure = {
      part: 'remote',
      what: 'an attempt on a worker, over one here',
      value: median(times.remote) - median(times.local),
      unit: 'ms',
      target: { atMost: 400 },
      detail: `${short(median(times.remote))} ms against ${short(median(times.local))} ms`,
    };
    return [wall, ...used];
  } finally {
    project.remove();
  }
}

function ofKind(tookMs: readonly number[], kind: 0 | 1): readonly number[] {
  return tookMs.filter((_, at) => at % 2 === kind && at > 1);
}

/** CPU time depends less than wall time on the machine's other load. */
async function cpuOver(cpu: CpuCount, chain: Chain, count: number): Promise<Figure> {
  const each = async (isRemote: boolean): Promise<number> => {
    const before = cpu.usedMs();
    await chain.run(Array.from({ length: count }, () => isRemote));
    return (cpu.usedMs() - before) / count;
  };
  const [here, there] = [await each(false), await each(true)];
  return {
    part: 'remote',
    what: 'CPU time of an attempt on a worker, over one here',
    value: there - here,
    unit: 'ms',
    target: null,
    detail: `${short(there)} ms against ${short(here)} ms`,
  };
}

/** Runs with tasks that wait for each other. */
class Chain {
  readonly #backend: Backend;
  readonly #env: Readonly<Record<string, string>>;
  #done = 0;

  constructor(backend: Backend, env: Readonly<Record<string, string>>) {
    this.#backend = backend;
    this.#env = env;
  }

  /** Measured from each claim until the task ends. */
  async run(areRemote: readonly boolean[]): Promise<readonly number[]> {
    const { client } = this.#backend;
    const ids: string[] = [];
    for (const isRemote of areRemote) {
      const fields = { runs_on: isRemote ? 'remote' : 'local', blocked_by: ids.slice(-1) } as const;
      ids.push((await client.call('task.add', { title: `t${ids.length}`, ...fields })).id);
    }
    this.#done += ids.length;
    await client.call('run.start', { workers: 1, target: 'main', env: this.#env });
    const ended = await eventsOf(client, 'task.completed', this.#done, waitMs);
    const claimed = await eventsOf(client, 'task.claimed', this.#done, waitMs);
    const timeOf = (events: typeof ended, id: string): number =>
      events.find((event) => event.task_id === id)?.at_ms ?? Number.NaN;
    return ids.map((id) => timeOf(ended, id) - timeOf(claimed, id));
  }
}

/** Each agent waits until all agents have started. */
async function atOnce(bench: Bench): Promise<Figure[]> {
  const count = bench.options.brief ? 2 : 16;
  bench.say(`remote: ${count} attempts on workers at the same time`);
  const begun = join(bench.folder, 'begun');
  rmSync(begun, { force: true });
  const agent = script(
    bench.folder,
    'waiting-agent',
    `echo "$DROVER_TASK_ID" >> '${begun}'\nn=0\nwhile [ "$(wc -l < '${begun}')" -lt ${count} ] && [ $n -lt 2400 ]; do n=$((n+1)); sleep 0.05; done\nmkdir -p made\nwc -l < '${begun}' > "made/$DROVER_TASK_ID.txt"\n`,
  );
  const project = await projectOf(bench, repositoryOf(bench.folder, 100), agent);
  try {
    writeFileSync(join(project.repository, '.drover.toml'), settingsOf(count));
    const backend = await startBackend(bench, project);
    for (let at = 0; at < count; at += 1) {
      await backend.client.call('task.add', { title: `t${at}`, runs_on: 'remote' });
    }
    const startedMs = Date.now();
    const { environment: env } = project;
    await backend.client.call('run.start', { workers: count, target: 'main', env });
    const ended = await eventsOf(backend.client, 'task.completed', count, waitMs);
    const lastMs = Math.max(...ended.map(({ at_ms: ms }) => ms)) - startedMs;
    await backend.kill('SIGTERM');
    const left = ['leases', 'workers'].flatMap((name) => {
      const folder = join(project.repository, '.drover', 'remote', name);
      return existsSync(folder) ? readdirSync(folder) : [];
    });
    return [
      {
        part: 'remote',
        what: 'attempts on workers at the same time, all completed',
        value: ended.length,
        unit: '',
        target: { atLeast: count },
        detail: `${short(lastMs / 1000)} s from the start of the run to the last landing`,
      },
      {
        part: 'remote',
        what: 'leases and workers left afterwards',
        value: left.length,
        unit: '',
        target: { atMost: 0 },
      },
    ];
  } finally {
    project.remove();
  }
}
