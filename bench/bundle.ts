// Bundles the measured code like the product, and runs it in separate processes.

import { execFile } from 'node:child_process';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { copiedBundles, programBundles } from '../build/bundled-programs.mjs';
import { backendNodeArgs } from '../server/main/start-backend.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');

export type Program =
  | 'engine-run'
  | 'gates-run'
  | 'store-run'
  | 'history-run'
  | 'fleet-run'
  | 'import-run'
  | 'snapshots-run'
  | 'backend'
  | 'remote-attempt'
  | 'worker-runtime'
  | 'cli'
  | 'cli-main';

const entries: Readonly<Record<Exclude<Program, 'cli' | 'worker-runtime'>, string>> = {
  'cli-main': 'server/cli/main.ts',
  'engine-run': 'bench/engine-run.ts',
  'gates-run': 'bench/gates-run.ts',
  'store-run': 'bench/store-run.ts',
  'history-run': 'bench/history-run.ts',
  'fleet-run': 'bench/fleet-run.ts',
  'import-run': 'bench/import-run.ts',
  'snapshots-run': 'bench/snapshots-run.ts',
  backend: 'server/main/backend-main.ts',
  'remote-attempt': 'server/main/remote-attempt.ts',
};
const copied = { 'worker-runtime': 'server/main/worker-runtime-main.ts' };

export type ProgramOptions = Readonly<Record<string, string | number | boolean>>;

/** Turns `{ tasks: 3, chain: true }` into `--tasks 3 --chain`. */
export function argumentsOf(options: ProgramOptions): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    if (typeof value === 'boolean') return value ? [`--${name}`] : [];
    return [`--${name}`, String(value)];
  });
}

export interface Programs {
  readonly pathOf: (program: Program) => string;
  /** Runs a program to its end and parses its standard output, which is one JSON line. */
  readonly json: <T>(program: Program, options: ProgramOptions) => Promise<T>;
}

/** The code is bundled like the shipped programs, so the sources need no prior build. */
export async function bundle(folder: string): Promise<Programs> {
  const outdir = join(folder, 'dist');
  rmSync(outdir, { recursive: true, force: true });
  const sources = Object.entries(entries).map(([name, file]) => [name, join(root, file)] as const);
  await build({
    ...programBundles(Object.fromEntries(sources), outdir),
    absWorkingDir: root,
    logLevel: 'warning',
  });
  await build({ ...copiedBundles(copied, outdir), absWorkingDir: root, logLevel: 'warning' });
  copyFileSync(join(root, 'bin', 'cli.mjs'), join(outdir, 'cli.js'));
  writeFileSync(join(outdir, 'package.json'), '{"type":"module"}\n');
  const pathOf = (program: Program): string =>
    join(outdir, program === 'cli' ? 'cli.js' : `${program}.cjs`);
  return {
    pathOf,
    json: async <T>(program: Program, options: ProgramOptions) => {
      const { stdout, stderr } = await run(
        process.execPath,
        // The engine as a backend runs it.
        [
          ...(program === 'engine-run' ? backendNodeArgs : ['--no-warnings']),
          pathOf(program),
          ...argumentsOf(options),
        ],
        { maxBuffer: 64 * 1024 * 1024 },
      );
      if (stderr !== '') process.stderr.write(stderr);
      return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as T;
    },
  };
}
