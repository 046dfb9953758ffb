// The suites that run for a mutant, the slowest last, and how to find the first failing test.

import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { killAllOf } from '../e2e/support/processes.ts';
import { removeFolder } from '../remove-folder.ts';

export interface Suite {
  readonly name: string;
  /** Exits with 0 if it has detected nothing. */
  readonly args: readonly string[];
  /** Only for changes below one of these folders; if absent, for all changes. */
  readonly of?: readonly string[];
  /** At the soak's full size. */
  readonly isSoak?: true;
}

/**
 * A change that makes a suite run or compute this long counts as detected, even on a busy machine.
 */
const suiteMaxMs = 1_500_000;
const cpuMaxSeconds = 300;
const bounded = 'ulimit -t "$1" && shift && exec "$@"';
const outputMaxBytes = 1 << 28;
const leftRounds = 40;
const leftRoundMs = 50;

const sameValues = ['--require', './test/runner/random.mjs'];
const mocha = ['node_modules/mocha/bin/mocha.js', '--ui', 'tdd', '--bail', '--exit', ...sameValues];
export const unitMocha: readonly string[] = [...mocha, '--timeout', '300000'];
const processMocha = [...mocha, '--timeout', '900000'];

/** It asks npm for the installed packages, but the copy has them through a link. */
const unlinked = ['--ignore', 'test/unit/licences.test.ts'];

/** The suites of the gate. */
export const gateSuites: readonly Suite[] = [
  {
    name: 'unit',
    args: [...unitMocha, '--recursive', '--extension', 'ts', 'test/unit', ...unlinked],
  },
  { name: 'store', args: [...unitMocha, 'test/store-sqlite/*.test.ts'], of: ['server/store'] },
  {
    name: 'simulation',
    args: ['test/simulation/main.ts', '--seeds', '60'],
    of: ['server/core', 'server/workflows', 'server/store'],
  },
  { name: 'git', args: [...processMocha, 'test/git/*.test.ts'], of: ['server/git'] },
  { name: 'types', args: ['node_modules/typescript/bin/tsc', '-b', 'test'] },
  { name: 'durable', args: [...processMocha, 'test/durable/embedded.test.ts'] },
  { name: 'build', args: ['esbuild.config.mjs'] },
  { name: 'crash', args: [...processMocha, 'test/e2e/crash-steps.test.ts'] },
  { name: 'landing', args: [...processMocha, 'test/e2e/landing.test.ts'] },
];

/** Files at the soak's size, after a build: they can detect mutants that the gate missed. */
export function soakSuites(files: readonly string[]): readonly Suite[] {
  const build = { name: 'build', args: ['esbuild.config.mjs'] };
  const own = files.map((file): Suite => {
    const args = file === 'simulation' ? ['test/simulation/main.ts', '--seeds', '600'] : null;
    return { name: file, args: args ?? [...processMocha, file], isSoak: true };
  });
  return own.length === 0 ? [] : [build, ...own];
}

export interface Verdict {
  readonly isGreen: boolean;
  /** The first test that failed; empty if none is named. */
  readonly by: string;
}

/** Runs one in the copy; all of its remaining processes are killed with it. */
export async function runSuite({ args, isSoak }: Suite, copy: string): Promise<Verdict> {
  const folder = `${copy}.tmp`;
  mkdirSync(folder, { recursive: true });
  const seconds = String(isSoak === true ? 3 * cpuMaxSeconds : cpuMaxSeconds);
  const words = ['-c', bounded, 'sh', seconds, process.execPath, ...args];
  const ended = spawnSync('/bin/sh', words, {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: outputMaxBytes,
    timeout: isSoak === true ? 3 * suiteMaxMs : suiteMaxMs,
    killSignal: 'SIGKILL',
    env: {
      ...process.env,
      TMPDIR: folder,
      DROVER_TEST_PATIENCE: '3',
      ...(isSoak === true ? { DROVER_TEST_TIER: 'soak' } : {}),
    },
  });
  await killAllOf(folder, leftRounds, leftRoundMs);
  removeFolder(folder);
  const isLate = ended.signal !== null;
  return {
    isGreen: ended.status === 0,
    by: isLate ? 'its time is over' : failedTest(ended.stdout),
  };
}

/**
 * Parses mocha's output: `1) suite`, and below it the names of the suites within and the test, up
 * to a colon. Or the compiler's.
 */
export function failedTest(output: string): string {
  const [typeError] = /\berror TS\d+: .*/.exec(output) ?? [];
  if (typeError !== undefined) return typeError;
  const told = output.slice(output.lastIndexOf(' failing'));
  const [, names = ''] = /^ {2}1\) (.+?):\n/ms.exec(told) ?? [];
  return names.replace(/\s*\n\s+/gu, ': ');
}
