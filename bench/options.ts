// The command line of the benchmark.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

export const parts = [
  'orchestration',
  'failures',
  'gates',
  'pool',
  'store',
  'recovery',
  'dispatch',
  'idle',
  'streams',
  'web',
  'fleet',
  'machines',
  'distance',
  'start',
  'memory',
  'history',
  'remote',
  'confinement',
  'snapshots',
  'forge',
  'against',
] as const;
export type Part = (typeof parts)[number];

export type Mode = 'pool' | 'cold';

export interface BenchOptions {
  readonly parts: readonly Part[];
  /** Sizes of the repositories in files. */
  readonly files: readonly number[];
  readonly modes: readonly Mode[];
  /** If null, the number depends on the size. */
  readonly tasks: number | null;
  readonly workers: number;
  readonly pairs: number;
  readonly folder: string;
  readonly json: boolean;
  /** Makes everything small and short, to check that a part runs, not how fast. */
  readonly brief: boolean;
  /** The other program for `against`, and the file that describes how to use it. */
  readonly against: { readonly program: string; readonly adapter: string } | null;
}

export const usage = `usage: npm run bench -- [part…] [options]
parts: ${parts.join(', ')} (all without any; against needs the two options below)
       replay <mirror> [options], a part with options of its own: replay --help
  --files 100,2000,50000   sizes of the repositories
  --mode pool,cold         worktrees made before, or by the run
  --tasks n                tasks of one run (by size: 100, 100, 32)
  --workers n              8
  --pairs n                alternating pairs of a comparison (by size: 5, 5, 3)
  --tmp folder             where repositories are made and kept
  --program file           against: the other program
  --adapter file           against: how it is used (README.md)
  --brief                  everything small and short, to see that it runs
  --json                   one JSON line for each figure as well`;

export function readOptions(argv: readonly string[]): BenchOptions | null {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      files: { type: 'string' },
      mode: { type: 'string', default: 'pool,cold' },
      tasks: { type: 'string' },
      workers: { type: 'string', default: '8' },
      pairs: { type: 'string' },
      tmp: { type: 'string', default: tmpdir() },
      json: { type: 'boolean', default: false },
      brief: { type: 'boolean', default: false },
      program: { type: 'string' },
      adapter: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const chosen = parts.filter((part) => positionals.includes(part));
  const modes = (['pool', 'cold'] as const).filter((mode) => values.mode.split(',').includes(mode));
  if (values.help || chosen.length < positionals.length) return null;
  const { brief, program, adapter } = values;
  const against = program === undefined || adapter === undefined ? null : { program, adapter };
  if (chosen.includes('against') && against === null) return null;
  const all = parts.filter((part) => part !== 'against' || against !== null);
  return {
    parts: chosen.length === 0 ? all : chosen,
    files: (values.files ?? (brief ? '100' : '100,2000,50000')).split(',').map(Number),
    modes,
    tasks: values.tasks === undefined ? (brief ? 4 : null) : Number(values.tasks),
    workers: Number(values.workers),
    pairs: Number(values.pairs ?? (brief ? 1 : 5)),
    brief,
    against,
    folder: join(values.tmp, 'drover-bench'),
    json: values.json,
  };
}
