// Measures the cost of a long feed, and of retention during work.

import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from './bench.ts';
import { median, short, type Figure } from './figures.ts';
import type { HistoryRun } from './history-run.ts';

const part = 'history';

export async function benchHistory(bench: Bench): Promise<Figure[]> {
  const { brief } = bench.options;
  const tasks = brief ? 300 : 10_000;
  const old = brief ? 5_000 : 1_000_000;
  bench.say(`history: ${tasks} tasks, then ${old} old events`);
  const folder = mkdtempSync(join(bench.folder, 'history-'));
  try {
    const database = join(folder, 'drover.db');
    const run = await bench.programs.json<HistoryRun>('history-run', { database, tasks, old });
    return figuresOf(run, tasks);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function figuresOf(run: HistoryRun, tasks: number): Figure[] {
  return [
    {
      part,
      what: `trace of ${tasks} tasks`,
      value: run.traceMs / 1_000,
      unit: 's',
      target: { atMost: 5 },
      detail: `CPU ${short(run.traceCpuMs / 1_000)} s, ${run.spans} spans of ${run.events} events`,
    },
    {
      part,
      what: 'an earlier state, with its snapshot',
      value: median(run.pastMs),
      unit: 'ms',
      target: { atMost: 300 },
      detail: `CPU ${short(median(run.pastCpuMs))}; ${run.pastMs.map(short).join(' ')}`,
    },
    {
      part,
      what: 'CPU of the exporter for a task',
      value: run.exportCpuMs / tasks,
      unit: 'ms',
      target: null,
      detail: `${short(run.exportMb)} MB while all of them are read at once`,
    },
    {
      part,
      what: 'a transition while retention is at work, p99',
      value: run.stepP99Ms,
      unit: 'ms',
      target: { atMost: 50 },
      detail: `${run.pruned} events in ${short(run.pruneMs / 1_000)} s, slowest ${short(run.stepMaxMs)}, before that p99 ${short(run.idleP99Ms)}`,
    },
  ];
}
