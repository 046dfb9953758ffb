// Bundles what is measured, as the product is bundled, and runs it in processes of its own.

import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..');

export type Program = 'engine-run' | 'store-run' | 'fleet-run' | 'backend' | 'helper';

const entries: Readonly<Record<Program, string>> = {
  'engine-run': 'bench/engine-run.ts',
  'store-run': 'bench/store-run.ts',
  'fleet-run': 'bench/fleet-run.ts',
  backend: 'server/main/backend-main.ts',
  helper: 'server/main/helper-main.ts',
};

export type ProgramOptions = Readonly<Record<string, string | number | boolean>>;

/** `{ tasks: 3, chain: true }` as `--tasks 3 --chain`. */
export function argumentsOf(options: ProgramOptions): string[] {
  return Object.entries(options).flatMap(([name, value]) => {
    if (typeof value === 'boolean') return value ? [`--${name}`] : [];
    return [`--${name}`, String(value)];
  });
}

export interface Programs {
  readonly pathOf: (program: Program) => string;
  /** Runs a program to its end; its standard output is one JSON line. */
  readonly json: <T>(program: Program, options: ProgramOptions) => Promise<T>;
}

/** The settings of `esbuild.config.mjs`. */
export async function bundle(folder: string): Promise<Programs> {
  const outdir = join(folder, 'dist');
  mkdirSync(outdir, { recursive: true });
  await build({
    entryPoints: Object.fromEntries(
      Object.entries(entries).map(([name, file]) => [name, join(root, file)]),
    ),
    outdir,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    sourcemap: false,
    logLevel: 'warning',
    external: [
      'winston',
      'winston-transport',
      '@opentelemetry/*',
      '@dbos-inc/dbos-enterprise',
      'pg-native',
    ],
    banner: {
      js: "import { createRequire as benchCreateRequire } from 'node:module'; const require = benchCreateRequire(import.meta.url);",
    },
  });
  const pathOf = (program: Program): string => join(outdir, `${program}.js`);
  return {
    pathOf,
    json: async <T>(program: Program, options: ProgramOptions) => {
      const { stdout, stderr } = await run(
        process.execPath,
        ['--no-warnings', pathOf(program), ...argumentsOf(options)],
        { maxBuffer: 64 * 1024 * 1024 },
      );
      if (stderr !== '') process.stderr.write(stderr);
      return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as T;
    },
  };
}
