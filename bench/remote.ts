// Remote attempts: what a worker adds to an attempt that does nothing, and how many run at once.

import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventsOf, projectOf, startBackend } from './backend.ts';
import type { Bench } from './bench.ts';
import { median, short, type Figure } from './figures.ts';
import { benchLines, benchTransfer } from './remote-runtime.ts';
import { repositoryOf, script, smallAgent } from './repositories.ts';

const waitMs = 300_000;

export async function benchRemote(bench: Bench): Promise<Figure[]> {
  return [
    ...(await benchLines(bench)),
    ...(await benchTransfer(bench)),
    await overhead(bench),
    ...(await atOnce(bench)),
  ];
}

const settingsOf = (max: number): string => `[remote]\nprovisioner = "process"\nmax = ${max}\n`;

/** Tasks one after the other, every second one on a worker: both kinds see the same machine. */
async function overhead(bench: Bench): Promise<Figure> {
  const pairs = bench.options.brief ? 2 : 12;
  bench.say(`remote: ${pairs} attempts here and ${pairs} on a worker, in turn`);
  const agent = smallAgent(bench.folder);
  const project = await projectOf(bench, repositoryOf(bench.folder, 100), agent);
  try {
    writeFileSync(join(project.repository, '.drover.toml'), settingsOf(1));
    const backend = await startBackend(bench, project);
    const ids: string[] = [];
    for (let at = 0; at < 2 * pairs; at += 1) {
      const runsOn = at % 2 === 0 ? 'local' : 'remote';
      const fields = { title: `t${at}`, runs_on: runsOn, blocked_by: ids.slice(-1) };
      ids.push((await backend.client.call('task.add', fields)).id);
    }
    const { environment: env } = project;
    await backend.client.call('run.start', { workers: 1, target: 'main', env });
    const ended = await eventsOf(backend.client, 'task.completed', ids.length, waitMs);
    const claimed = await eventsOf(backend.client, 'task.claimed', ids.length, waitMs);
    await backend.kill('SIGTERM');
    const took = (id: string): number => {
      const at = (events: typeof ended): number =>
        events.find((event) => event.task_id === id)?.at_ms ?? Number.NaN;
      return at(ended) - at(claimed);
    };
    // The first ones make the slot, and load what is loaded once.
    const local = ids.filter((_, at) => at % 2 === 0 && at > 1).map(took);
    const remote = ids.filter((_, at) => at % 2 === 1 && at > 1).map(took);
    return {
      part: 'remote',
      what: 'an attempt on a worker, over one here',
      value: median(remote) - median(local),
      unit: 'ms',
      target: { atMost: 400 },
      detail: `${short(median(remote))} ms against ${short(median(local))} ms`,
    };
  } finally {
    project.remove();
  }
}

/** Each agent waits until all have started. */
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
