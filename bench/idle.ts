// Measures an idle backend, and one with sixteen agents that print all the time.

import { setTimeout as delay } from 'node:timers/promises';
import { readLog } from '../server/agents/kit/log/event-log-reader.ts';
import { join } from 'node:path';
import { eventsOf, projectOf, startBackend } from './backend.ts';
import type { Bench } from './bench.ts';
import { short, type Figure } from './figures.ts';
import { ownUse, treeUse } from './process-use.ts';
import { repositoryOf, script } from './repositories.ts';

const settleMsLong = 12_000;
const watchMsLong = 20_000;
const momentMs = 1_000;

export async function benchIdle(bench: Bench): Promise<Figure[]> {
  const { brief } = bench.options;
  const settleMs = brief ? momentMs : settleMsLong;
  const watchMs = brief ? momentMs : watchMsLong;
  bench.say(`idle: ${(settleMs + watchMs) / 1000} s of nothing`);
  const project = await projectOf(bench, repositoryOf(bench.folder, 100), '/bin/true');
  try {
    const backend = await startBackend(bench, project);
    for (let i = 0; i < 20; i += 1) await backend.client.call('task.add', { title: `t${i}` });
    await backend.client.call('status', {});
    await delay(settleMs);
    const before = treeUse(backend.pid);
    await delay(watchMs);
    const after = treeUse(backend.pid);
    await backend.kill('SIGTERM');
    return [
      {
        part: 'idle',
        what: 'CPU time of an idle backend',
        value: ((after.cpuMs - before.cpuMs) / watchMs) * 100,
        unit: '%',
        target: { atMost: 0.2 },
        detail: `${short(after.cpuMs - before.cpuMs)} ms in ${watchMs / 1000} s`,
      },
      {
        part: 'idle',
        what: 'resident memory of an idle backend',
        value: after.rssMb,
        unit: 'MB',
        target: { atMost: 100 },
      },
    ];
  } finally {
    project.remove();
  }
}

export const linesPerSecond = 1_000;

/** Prints every twentieth of a second, and catches up if the machine was slow. */
const talker = (seconds: number): string => `
const total = ${linesPerSecond * seconds}, startedAt = Date.now();
let printed = 0;
const timer = setInterval(() => {
  const due = Math.min(total, Math.floor((Date.now() - startedAt) * ${linesPerSecond / 1000}));
  let text = '';
  for (; printed < due; printed += 1) text += 'line ' + printed + ' of an agent that tells all it does\\n';
  process.stdout.write(text);
  if (printed >= total) clearInterval(timer);
}, 50);
`;

/** A program that prints for so many seconds, then has changed a file. */
export function talkingAgent(folder: string, seconds: number): string {
  return script(
    folder,
    'talking-agent',
    `mkdir -p made\necho x > "made/$DROVER_TASK_ID.txt"\nexec '${process.execPath}' -e "$(cat <<'END'${talker(seconds)}END\n)"\n`,
  );
}

export async function benchStreams(bench: Bench): Promise<Figure[]> {
  const { streams, seconds } = bench.options.brief
    ? { streams: 2, seconds: 1 }
    : { streams: 16, seconds: 10 };
  bench.say(`streams: ${streams} agents, ${linesPerSecond} lines a second each, ${seconds} s`);
  const agent = talkingAgent(bench.folder, seconds);
  const project = await projectOf(bench, repositoryOf(bench.folder, 100), agent);
  try {
    const backend = await startBackend(bench, project);
    for (let i = 0; i < streams; i += 1) await backend.client.call('task.add', { title: `t${i}` });
    await backend.client.call('run.start', {
      workers: streams,
      target: 'main',
      env: project.environment,
    });
    let largestMb = 0;
    const watch = setInterval(() => {
      largestMb = Math.max(largestMb, ownUse(backend.pid).rssMb);
    }, 200);
    const before = ownUse(backend.pid).cpuMs;
    const ended = await eventsOf(backend.client, 'task.completed', streams, 180_000);
    clearInterval(watch);
    const cpuMs = ownUse(backend.pid).cpuMs - before;
    const lost = ended
      .map((event) => lostLines(project.repository, event.task_id ?? '', linesPerSecond * seconds))
      .reduce((sum, lines) => sum + lines, 0);
    await backend.kill('SIGTERM');
    return [
      {
        part: 'streams',
        what: `lines lost or out of order, of ${streams * linesPerSecond * seconds}`,
        value: lost,
        unit: '',
        target: { atMost: 0 },
      },
      {
        part: 'streams',
        what: 'largest resident memory of the backend',
        value: largestMb,
        unit: 'MB',
        target: { atMost: 200 },
        detail: `${short(cpuMs / seconds / 10)} % of a core`,
      },
    ];
  } finally {
    project.remove();
  }
}

/** Reads the whole log of a task and checks each line. */
export function lostLines(repository: string, task: string, lines: number): number {
  const path = join(repository, '.drover', 'logs', task, '1.ndjson');
  let expected = 0;
  let wrong = 0;
  for (let offset = 0, atEnd = false; !atEnd;) {
    const page = readLog(path, { fromOffset: offset, limit: 5_000 });
    for (const event of page.events) {
      if (event.type !== 'output' || event.stream !== 'stdout') continue;
      if (!event.text.startsWith(`line ${expected} `)) wrong += 1;
      expected += 1;
    }
    atEnd = page.atEnd || page.nextOffset === offset;
    offset = page.nextOffset;
  }
  return wrong + lines - expected;
}
