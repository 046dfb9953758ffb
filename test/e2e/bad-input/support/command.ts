// The real command in a separate process, with a small explicit environment, and with limited time
// and output.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { patience } from '../../../patience.ts';

const repository = resolve(import.meta.dirname, '..', '..', '..', '..');
const localNode = join(repository, 'node_modules', '.bin', 'node');

/** Node 24: the one that the project provides, otherwise the one that runs this test. */
export const nodeProgram = existsSync(localNode) ? localNode : process.execPath;
/** A build other than the one in `dist`, for work on both at the same time. */
export const cliProgram = join(
  process.env['DROVER_TEST_DIST'] ?? join(repository, 'dist'),
  'cli.js',
);
export const fixtures = join(repository, 'test', 'fixtures', 'import');

const outputBytesMax = 4 * 1024 * 1024;
export const timeoutDefaultMs = 60_000;

export interface Call {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly home: string;
  /** Added to the environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string | Buffer;
  readonly timeoutMs?: number;
  /**
   * Root drops its capabilities, so that file permissions apply to it. Another user might not be
   * able to read the checkout.
   */
  readonly isBound?: boolean;
}

export interface Ended {
  /** Null if a signal killed it, or its time limit expired. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly isLate: boolean;
}

export function environmentOf(call: Pick<Call, 'home' | 'env'>): Record<string, string> {
  const all: Record<string, string | undefined> = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: call.home,
    DROVER_SANDBOX: 'off',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    ...call.env,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined;
  });
  return Object.fromEntries(given);
}

export function runDrover(call: Call): Promise<Ended> {
  return new Promise((settle, fail) => {
    const isRootBound = call.isBound === true && process.getuid?.() === 0;
    const words = [nodeProgram, cliProgram, ...call.args];
    const [program, args] = isRootBound
      ? ['setpriv', ['--inh-caps=-all', '--bounding-set=-all', ...words]]
      : [nodeProgram, words.slice(1)];
    const child = spawn(program, args, {
      cwd: call.cwd,
      env: environmentOf(call),
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const outputs = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        if (outputs[name].length < outputBytesMax) outputs[name] += text;
      });
    }
    let isLate = false;
    const timer = setTimeout(
      () => {
        isLate = true;
        child.kill('SIGKILL');
      },
      (call.timeoutMs ?? timeoutDefaultMs) * patience,
    );
    child.on('error', (error) => {
      clearTimeout(timer);
      fail(error);
    });
    child.on('close', (code) => {
      clearTimeout(timer);
      settle({ code, ...outputs, isLate });
    });
    // A command that refuses early does not read all of its input.
    child.stdin.on('error', () => {});
    child.stdin.end(call.stdin ?? '');
  });
}
