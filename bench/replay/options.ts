// The command line of `npm run bench -- replay`.

import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Span } from '../../test/replay/plan.ts';

export const replayModes = ['oracle', 'files', 'none', 'forecast', 'by-hand', 'program'] as const;
export type ReplayMode = (typeof replayModes)[number];

export interface ReplayOptions {
  readonly mirror: string;
  readonly tip: string;
  readonly modes: readonly ReplayMode[];
  readonly window: number;
  readonly windows: number;
  readonly parallelGates: readonly number[];
  readonly agents: number;
  readonly seed: number;
  readonly kills: number;
  readonly agent: Span;
  readonly gate: Span;
  readonly check: string | null;
  /** Command of another program that follows the contract in bench/README.md. */
  readonly program: string | null;
  readonly svg: string | null;
  readonly json: string | null;
  /** Lines of earlier runs; if set, nothing runs. */
  readonly from: string | null;
  readonly folder: string;
}

export const replayUsage = `usage: npm run bench -- replay <mirror> [options]
<mirror>: a git directory; its history is only read
  --modes list          ${replayModes.join(',')} (all but program, unless --program is given)
  --window n            changes of a window (24)
  --windows n           windows, the newest first (1)
  --tip rev             last change of the newest window (HEAD)
  --parallel-gates list values of [gate] parallel (1,4)
  --agents n            8
  --seed n              draws times of agents, gates and kills (1)
  --kill n              SIGKILL the backend so often in each run (0)
  --agent-seconds a-b   drawn time of an agent (25-55)
  --gate-seconds a-b    drawn time of a gate (6-10)
  --check command       real check of the gate (whole tree, no conflict markers)
  --program command     another program, run in mode program (README.md)
  --svg file            the picture
  --json file           one JSON line for each run, appended
  --from file           table and picture of the lines of --json, without a run
  --tmp folder          where clones are made`;

function spanOf(text: string): Span | null {
  const [from = Number.NaN, to = from] = text.split('-').map((part) => Number(part) * 1000);
  return from >= 0 && to >= from ? { fromMs: from, toMs: to } : null;
}

/** Returns null if an argument is missing or unknown. */
export function readReplayOptions(argv: readonly string[]): ReplayOptions | null {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      modes: { type: 'string' },
      window: { type: 'string', default: '24' },
      windows: { type: 'string', default: '1' },
      tip: { type: 'string', default: 'HEAD' },
      'parallel-gates': { type: 'string', default: '1,4' },
      agents: { type: 'string', default: '8' },
      seed: { type: 'string', default: '1' },
      kill: { type: 'string', default: '0' },
      'agent-seconds': { type: 'string', default: '25-55' },
      'gate-seconds': { type: 'string', default: '6-10' },
      check: { type: 'string' },
      program: { type: 'string' },
      svg: { type: 'string' },
      json: { type: 'string' },
      from: { type: 'string' },
      tmp: { type: 'string', default: tmpdir() },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const from = values.from ?? null;
  const [mirror = from ?? undefined, ...others] = positionals;
  const agent = spanOf(values['agent-seconds']);
  const gate = spanOf(values['gate-seconds']);
  const parallelGates = values['parallel-gates'].split(',').map(Number);
  const counts = [values.window, values.windows, values.agents].map(Number);
  const program = values.program ?? null;
  const named = values.modes?.split(',') ?? replayModes.filter((mode) => mode !== 'program');
  const modes = replayModes.filter(
    (mode) => named.includes(mode) || (mode === 'program' && program !== null),
  );
  if (values.help || mirror === undefined || others.length > 0 || agent === null || gate === null)
    return null;
  if (![...counts, ...parallelGates].every((count) => Number.isSafeInteger(count) && count > 0))
    return null;
  if (named.some((name) => !modes.some((mode) => mode === name))) return null;
  if (modes.includes('program') && program === null) return null;
  const [window = 0, windows = 0, agents = 0] = counts;
  return {
    mirror: resolve(mirror),
    tip: values.tip,
    modes,
    window,
    windows,
    parallelGates,
    agents,
    seed: Number(values.seed),
    kills: Number(values.kill),
    agent,
    gate,
    check: values.check ?? null,
    program,
    svg: values.svg ?? null,
    json: values.json ?? null,
    from,
    folder: join(values.tmp, 'drover-bench'),
  };
}
