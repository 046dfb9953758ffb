// The public benchmark: replays real histories as tasks whose agents make the original changes
// again.

import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { loadavg } from 'node:os';
import {
  boundsText,
  replayFigures,
  type Replay,
  type ReplayFigures,
} from '../../test/replay/figures.ts';
import {
  criticalMs,
  edgesByFiles,
  planTasks,
  type Edges,
  type ReplayTask,
} from '../../test/replay/plan.ts';
import { bundle } from '../bundle.ts';
import { short } from '../figures.ts';
import { copyOf } from '../repositories.ts';
import { replayByDrover } from './drover-run.ts';
import { edgesByMerge, readWindow, type Window } from './history.ts';
import {
  readReplayOptions,
  replayModes,
  replayUsage,
  type ReplayMode,
  type ReplayOptions,
} from './options.ts';
import { replayByProgram } from './program-run.ts';
import type { ReplayBench } from './window-run.ts';
import { pictureOf } from './picture.ts';
import { replayTable } from './table.ts';

const noEdges: Edges = new Map();

export interface ReplayLine extends ReplayFigures {
  readonly history: string;
  readonly base: string;
  readonly tip: string;
  readonly agents: number;
  readonly seed: number;
  readonly load: number;
}

/** Returns the exit code. */
export async function replayMain(argv: readonly string[]): Promise<number> {
  const options = readReplayOptions(argv);
  if (options === null) {
    process.stdout.write(`${replayUsage}\n`);
    return 64;
  }
  const lines = options.from === null ? await allWindows(options) : readLines(options.from);
  console.log(replayTable(lines));
  if (options.svg !== null) writeFileSync(options.svg, pictureOf(lines));
  return lines.every(({ lost }) => lost.length === 0) ? 0 : 1;
}

function readLines(file: string): readonly ReplayLine[] {
  const texts = readFileSync(file, 'utf8').split('\n');
  const lines = texts.filter((text) => text !== '').map((text) => JSON.parse(text) as ReplayLine);
  // Runs side by side append their lines in any order.
  const place = ({ mode, kills }: ReplayLine): number =>
    replayModes.findIndex((each) => each === mode) + (kills > 0 ? replayModes.length : 0);
  return lines.sort(
    (a, b) =>
      a.history.localeCompare(b.history) ||
      place(a) - place(b) ||
      (a.parallelGates ?? 0) - (b.parallelGates ?? 0),
  );
}

async function allWindows(options: ReplayOptions): Promise<readonly ReplayLine[]> {
  mkdirSync(options.folder, { recursive: true });
  const folder = `${options.folder}/replay-${process.pid}`;
  mkdirSync(folder);
  const say = (text: string): void => void process.stderr.write(`${text}\n`);
  try {
    const programs = await bundle(folder);
    const bench = { programs, folder, say };
    const lines: ReplayLine[] = [];
    let tip = options.tip;
    for (let at = 0; at < options.windows; at += 1) {
      const window = readWindow(options.mirror, tip, options.window);
      lines.push(...(await replayWindow(bench, options, window)));
      tip = window.base;
    }
    return lines;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function replayWindow(
  bench: ReplayBench,
  options: ReplayOptions,
  window: Window,
): Promise<readonly ReplayLine[]> {
  const { gate, agents, seed } = options;
  const gateMs = (gate.fromMs + gate.toMs) / 2;
  const edges = edgesFor(bench, options, window);
  const lines: ReplayLine[] = [];
  for (const mode of options.modes) {
    const tasks = planTasks(window.changes, edges(mode), seed, options.agent);
    const isDrover = mode !== 'by-hand' && mode !== 'program';
    for (const parallelGates of isDrover ? options.parallelGates : [null]) {
      bench.say(
        `replay: ${mode}, ${parallelGates ?? '-'} gates: ${boundsText(tasks, gateMs, agents)}`,
      );
      const run = await replayOnce(bench, options, { mode, tasks, window, parallelGates });
      const line: ReplayLine = {
        history: historyName(options.mirror),
        base: window.base,
        tip: window.tip,
        agents,
        seed,
        load: Number(short(loadavg()[1] ?? 0)),
        ...replayFigures(run, gateMs, agents),
      };
      lines.push(line);
      bench.say(`replay: ${short(line.landed * 100)} % landed in ${short(line.wallS)} s`);
      if (options.json !== null) appendFileSync(options.json, `${JSON.stringify(line)}\n`);
    }
  }
  return lines;
}

async function replayOnce(
  bench: ReplayBench,
  options: ReplayOptions,
  run: {
    readonly mode: ReplayMode;
    readonly tasks: readonly ReplayTask[];
    readonly window: Window;
    readonly parallelGates: number | null;
  },
): Promise<Replay> {
  const { gate, agents, kills } = options;
  const ideal = criticalMs(run.tasks, (gate.fromMs + gate.toMs) / 2, agents);
  const planned = { ...run, options, criticalMs: ideal };
  const { parallelGates } = run;
  if (parallelGates === null) return replayByProgram(bench, planned);
  const onForecast = run.mode === 'forecast' ? 'order' : 'tell';
  return replayByDrover(bench, { ...planned, parallelGates, onForecast, kills });
}

/**
 * `none` and `forecast` have no dependencies; by hand, each change is made on top of all earlier
 * ones.
 */
function edgesFor(
  bench: ReplayBench,
  options: ReplayOptions,
  window: Window,
): (mode: ReplayMode) => Edges {
  let needed: Edges | null = null;
  const byNeed = (): Edges => {
    bench.say('replay: which change needs which');
    const scratch = copyOf(bench.folder, options.mirror);
    try {
      return edgesByMerge(scratch.repository, window);
    } finally {
      scratch.remove();
    }
  };
  return (mode) => {
    switch (mode) {
      case 'oracle':
      case 'by-hand':
      case 'program':
        return (needed ??= byNeed());
      case 'files':
        return edgesByFiles(window.changes);
      case 'none':
      case 'forecast':
        return noEdges;
    }
  };
}

/** Mirrors are named `owner+name/repo` or `name.git`. */
function historyName(mirror: string): string {
  const last = basename(mirror, '.git');
  return last === 'repo' || last === '' ? basename(dirname(mirror)).replace('+', '/') : last;
}
