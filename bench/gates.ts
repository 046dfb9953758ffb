// Measures work that waits for the gate: twelve tasks whose agents end one second apart.

import type { Bench } from './bench.ts';
import { median, short, type Figure } from './figures.ts';
import type { GatesRun } from './gates-run.ts';
import { copyOf, repositoryOf } from './repositories.ts';

interface GatesWish {
  readonly tasks: number;
  readonly gate: number;
  readonly apart: number;
  readonly parallel: number;
  /** The number of the task that fails the gate (0 = none). */
  readonly red: number;
}

const part = 'gates';

export async function benchGates(bench: Bench): Promise<Figure[]> {
  const { brief } = bench.options;
  const tasks = brief ? 3 : 12;
  const usual: GatesWish = {
    tasks,
    gate: brief ? 0.5 : 6,
    apart: brief ? 0.1 : 1,
    parallel: 4,
    red: 0,
  };
  const red = brief ? 2 : 7;
  const figures: Figure[] = [];
  for (const wish of [usual, { ...usual, parallel: 1 }])
    figures.push(...(await waits(bench, wish)), ...(await waits(bench, { ...wish, red })));
  if (!brief) figures.push(await shortGates(bench));
  return figures;
}

async function runOf({ folder, programs }: Bench, wish: GatesWish): Promise<GatesRun> {
  const copy = copyOf(folder, repositoryOf(folder, 100));
  try {
    const { repository, home } = copy;
    return await programs.json<GatesRun>('gates-run', { repository, home, ...wish });
  } finally {
    copy.remove();
  }
}

async function waits(bench: Bench, wish: GatesWish): Promise<Figure[]> {
  const { tasks, gate, apart, parallel, red } = wish;
  const kind = red === 0 ? 'all green' : `task ${red} red`;
  const what = `${tasks} tasks, a gate of ${gate} s, ${parallel} at once, ${kind}`;
  bench.say(`${part}: ${what}`);
  const run = await runOf(bench, wish);
  const gatesOf = (ms: number): number => ms / 1000 / gate;
  const sorted = run.waitsMs.toSorted((a, b) => a - b);
  const isJudged = parallel > 1 && !bench.options.brief;
  const p95 = sorted[Math.ceil(sorted.length * 0.95) - 1] ?? Number.NaN;
  const critical = tasks * apart + gate;
  return [
    {
      part,
      what: `${what}: done to landed, median`,
      value: gatesOf(median(sorted)),
      unit: 'gates',
      target: isJudged ? { atMost: red === 0 ? 1.1 : 2 } : null,
      detail: `p95 ${short(gatesOf(p95))}; ${run.gates} gates, ${short(run.gateMs / 1000)} s, ${short(run.unusedMs / 1000)} s for nothing`,
    },
    {
      part,
      what: `${what}: run against its critical path`,
      value: run.runMs / 1000 / critical,
      unit: '×',
      target: isJudged && red > 0 ? { atMost: 1.5 } : null,
      detail: `${short(run.runMs / 1000)} against ${short(critical)} s`,
    },
  ];
}

/** Short gates do not run early, so a busy machine loses nothing. */
async function shortGates(bench: Bench): Promise<Figure> {
  const wish = { tasks: 24, gate: 0.5, apart: 0.1, red: 0 };
  const ratios: number[] = [];
  for (let pair = 0; pair < 3; pair += 1) {
    bench.say(`${part}: short gates, pair ${pair + 1} of 3`);
    const [alone, early] = [
      await runOf(bench, { ...wish, parallel: 1 }),
      await runOf(bench, { ...wish, parallel: 4 }),
    ];
    ratios.push(early.runMs / alone.runMs);
  }
  return {
    part,
    what: 'a gate of 0.5 s: 4 places against 1',
    value: median(ratios),
    unit: '×',
    target: { atMost: 1.05 },
    detail: `ratios ${ratios.map(short).join(' ')}`,
  };
}
