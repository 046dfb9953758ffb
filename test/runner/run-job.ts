// Runs one job: a process group with a separate temporary folder and a time limit. Nothing is left
// when it has ended.

import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { killAllOf } from '../e2e/support/processes.ts';
import { removeFolder } from '../remove-folder.ts';
import type { Job, Outcome } from './job.ts';
import type { JobCpu } from './job-cpu.ts';
import { type Ending, outcomeOf } from './outcome.ts';

export const root = resolve(import.meta.dirname, '..', '..');

const outputCharsMax = 4 * 1024 * 1024;
/**
 * Node's compiled code of the tests and the sources that they import: compiling takes half of the
 * CPU time with which a file's process starts. Programs with their own cache use only that one if a
 * test gives them a separate environment, as most do.
 */
const compiledFolder = join(root, 'out', 'test', 'compiled');

/** How long tests wait for events, as a factor, because jobs run in parallel. */
export const patienceDefault = 2;

/** Between SIGTERM and SIGKILL. */
const leaveMaxMs = 5_000;

/** Data that is still in the pipes when the job has ended is read within this time. */
const pipesMaxMs = 2_000;

/**
 * The shell reports the CPU time of the processes that it and they have waited for, on file
 * descriptor 3.
 */
const timed = '"$@" 3>&-; code=$?; times >&3; exit $code';

export interface RunningJob {
  readonly job: Job;
  readonly beganMs: number;
  readonly outcome: Promise<Outcome>;
  /** Kills all of its processes. */
  readonly end: () => Promise<void>;
}

/**
 * `folder`: the runner's, which is short because sockets are below it; the job gets a folder in it.
 * `cpu`: finds processes that outlive their parent.
 */
export function startJob(
  job: Job,
  folder: string,
  cpu?: JobCpu,
  patience = patienceDefault,
): RunningJob {
  const beganMs = performance.now();
  mkdirSync(folder);
  // Programs that do not run as root, such as PostgreSQL, must be able to enter it.
  chmodSync(folder, 0o755);
  const report = join(folder, 'report.json');
  const args = job.args.map((arg) => arg.replace('{report}', report));
  const child = spawn('/bin/sh', ['-c', timed, 'sh', job.program, ...args], {
    cwd: root,
    env: jobEnvironment(job, folder, patience),
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  if (child.pid !== undefined) cpu?.watch(folder, child.pid);
  let isLate = false;
  const end = (): Promise<void> => endAll(child, folder);
  const timer = setTimeout(() => {
    isLate = true;
    void end();
  }, job.limitMs);
  const ended = collect(child).then(({ output, code, cpuMs }): Ending => {
    clearTimeout(timer);
    const durationMs = performance.now() - beganMs;
    const told = existsSync(report) ? readFileSync(report, 'utf8') : null;
    const leftMs = cpu?.taken(folder) ?? 0;
    return { code, output, report: told, durationMs, cpuMs: cpuMs + leftMs, isLate };
  });
  const outcome = ended.then(async (ending) => {
    await endAll(child, folder);
    removeIfPossible(folder);
    return outcomeOf(job, ending);
  });
  return { job, beganMs, outcome, end };
}

export function jobEnvironment(job: Job, folder: string, patience: number): NodeJS.ProcessEnv {
  const { PATH = '', ...others } = process.env;
  return {
    ...others,
    PATH: [join(root, 'node_modules', '.bin'), PATH].join(delimiter),
    TMPDIR: folder,
    DROVER_TEST_TMP: folder,
    NODE_COMPILE_CACHE: compiledFolder,
    DROVER_TEST_PATIENCE: String(patience),
    ...job.env,
  };
}

interface Collected {
  readonly output: string;
  readonly code: number | null;
  readonly cpuMs: number;
}

function collect(child: ChildProcess): Promise<Collected> {
  let output = '';
  let times = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-outputCharsMax);
    });
  }
  (child.stdio[3] as NodeJS.ReadableStream | null)
    ?.setEncoding('utf8')
    .on('data', (text) => (times += String(text)));
  return new Promise((done) => {
    const finish = (code: number | null): void => done({ output, code, cpuMs: cpuMsOf(times) });
    child.on('error', (error) => {
      output += String(error);
      finish(127);
    });
    child.on('close', finish);
    // A process that outlives the job may keep the pipes open.
    child.on('exit', (code) => setTimeout(finish, pipesMaxMs, code).unref());
  });
}

/** Two lines of `times`, the shell's own and its children's: `0m1.234s 0m0.120s`. */
function cpuMsOf(times: string): number {
  return [...times.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + (Number(minutes) * 60 + Number(seconds)) * 1_000,
    0,
  );
}

/**
 * The group, with SIGTERM first; and every other process that has the job's folder in its
 * arguments, environment or working directory.
 */
async function endAll(child: ChildProcess, folder: string): Promise<void> {
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  if (!isOver()) {
    signalGroup(child, 'SIGTERM');
    const endMs = performance.now() + leaveMaxMs;
    while (!isOver() && performance.now() < endMs) await pause();
  }
  signalGroup(child, 'SIGKILL');
  await killAllOf(folder, 20, pauseMs);
}

function signalGroup(child: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, name);
  } catch {
    // All of its processes have exited.
  }
}

const pauseMs = 50;
const pause = (): Promise<void> => new Promise((done) => setTimeout(done, pauseMs));

function removeIfPossible(folder: string): void {
  try {
    removeFolder(folder);
  } catch {
    // Files that cannot be removed do not fail the test; the runner's folder is removed at its end.
  }
}
