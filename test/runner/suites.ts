// The suites and their jobs: their prerequisites, their cost, and their time limit.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { soakFiles, soakPlans } from '../tier.ts';
import type { Job } from './job.ts';
import { root } from './run-job.ts';

const bin = (name: string): string => join(root, 'node_modules', '.bin', name);
const mocha = join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
const dist = join(root, 'dist');
const minuteMs = 60_000;
/** A file's own limits for its tests are at least this long. */
const ownLimitMsMin = 4 * minuteMs;

interface Suite {
  readonly name: string;
  /** Folders and files of tests. */
  readonly specs: readonly string[];
  readonly isTimed?: true;
  readonly after: readonly string[];
  /** Limit of one test, unless it sets its own. */
  readonly testMs: number;
  readonly limitMs: number;
  /**
   * The name of one job that runs all files in one process: many files that take little time, or
   * that share a browser.
   */
  readonly job?: string;
  readonly isRetried: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

const vsixFile = (): string => {
  const text = readFileSync(join(root, 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  return join(root, 'out/vsix', `drover-${process.platform}-${process.arch}-${version}.vsix`);
};

const withAgents = ['build', 'agents-under-test'];
const realProcesses = { after: ['build'], isRetried: true } as const;

function suites(): readonly Suite[] {
  const vscode = {
    after: ['build', 'package', 'vscode-host'],
    env: { DROVER_TEST_VSIX: vsixFile() },
  };
  return [
    {
      name: 'unit',
      specs: ['test/unit', 'test/architecture.test.ts', 'test/tidy.test.ts'],
      after: ['build'],
      testMs: minuteMs,
      limitMs: 6 * minuteMs,
      job: 'unit',
      isRetried: false,
    },
    {
      name: 'store',
      specs: ['test/store-sqlite'],
      after: ['build'],
      testMs: 60_000,
      limitMs: 6 * minuteMs,
      job: 'store',
      isRetried: false,
    },
    {
      name: 'simulation',
      specs: ['test/simulation'],
      after: [],
      testMs: 40 * minuteMs,
      limitMs: 45 * minuteMs,
      isRetried: false,
    },
    { ...realProcesses, name: 'store-postgres', specs: ['test/store-postgres'], ...medium },
    { ...realProcesses, name: 'durable', specs: ['test/durable'], ...medium },
    { ...realProcesses, name: 'git', specs: ['test/git'], ...medium },
    { ...realProcesses, name: 'agents', specs: ['test/agents'], ...medium, after: withAgents },
    { ...realProcesses, name: 'workers', specs: ['test/workers'], ...medium },
    {
      ...realProcesses,
      name: 'forge',
      specs: ['test/forge'],
      ...medium,
      after: ['build', 'forge-schemas'],
    },
    {
      ...realProcesses,
      name: 'web',
      specs: ['test/web'],
      ...long,
      after: ['build', 'vscode-host'],
    },
    { ...realProcesses, name: 'neighbours', specs: ['test/neighbours', 'test/replay'], ...long },
    { ...realProcesses, name: 'end-to-end', specs: ['test/e2e'], ...long },
    // Several machines with all of their processes: more than one fleet at once would miss its
    // deadlines.
    { ...realProcesses, name: 'fleet', specs: ['test/fleet'], ...long, isTimed: true },
    ...webviews(),
    {
      ...realProcesses,
      name: 'vscode',
      specs: ['test/vscode/stories'],
      ...long,
      testMs: 5 * minuteMs,
      isTimed: true,
      ...vscode,
    },
  ];
}

/**
 * Starting a browser and building the webviews' bundles takes as long as a small file's tests, so
 * several files share them.
 */
function webviews(): readonly Suite[] {
  const parts: Readonly<Record<string, readonly string[]>> = {
    every: [
      'accessibility.test.ts',
      'controls.test.ts',
      'failing-buttons.test.ts',
      'harness.test.ts',
      'hostile.test.ts',
    ],
    pages: ['board', 'inbox', 'plan', 'run'],
    stream: ['rules', 'stream', 'worktrees'],
    tree: ['task', 'tree'],
  };
  return Object.entries(parts).map(([part, names]) => ({
    ...realProcesses,
    ...medium,
    name: 'webview',
    job: `webview ${part}`,
    specs: names.map((name) => `test/webview/${name}`),
    after: ['vscode-host'],
  }));
}

const medium = { testMs: 6 * minuteMs, limitMs: 12 * minuteMs };
const long = { testMs: 15 * minuteMs, limitMs: 20 * minuteMs };

/** Files that drive the real agents, which are installed before. */
const needsAgents =
  /\/(agents|budget|claude|fallback|mcp-acp|mcp-claude|mcp-person-claude|planning-claude|quota|spec)\.test\.ts$/;

export function allJobs(): readonly Job[] {
  const jobs = [...steps(), ...suites().flatMap(jobsOf), ...inHostJobs()];
  const names = new Set(jobs.map(({ name }) => name));
  if (names.size !== jobs.length) throw new Error('two jobs have one name');
  return jobs;
}

export function suiteNames(jobs: readonly Job[]): readonly string[] {
  return [...new Set(jobs.map(({ suite }) => suite))];
}

/**
 * The gate's jobs, or the jobs of these suites and files with their prerequisites. A soak file runs
 * by its name.
 */
export function selectJobs(jobs: readonly Job[], wanted: readonly string[]): readonly Job[] {
  const single = wanted.flatMap((file) => alone(jobs, file));
  const isWanted = (job: Job): boolean =>
    wanted.includes(job.name) ||
    (job.tier === 'gate' && (wanted.length === 0 || wanted.includes(job.suite)));
  const all = [...jobs, ...single];
  const names = new Set([...jobs.filter(isWanted), ...single].map(({ name }) => name));
  for (const name of names) {
    const found = all.find((job) => job.name === name);
    for (const before of found?.after ?? []) names.add(before);
  }
  return all.filter(({ name }) => names.has(name));
}

/** Every name that `selectJobs` accepts: of suites, jobs and files. */
export function selectable(jobs: readonly Job[]): readonly string[] {
  return [...suiteNames(jobs), ...jobs.flatMap(({ name, args }) => [name, ...args.filter(isTest)])];
}

const isTest = (arg: string): boolean => arg.endsWith('.test.ts');

/** A file of a job with several files, as a separate job. */
function alone(jobs: readonly Job[], file: string): readonly Job[] {
  const isOther = (arg: string): boolean => isTest(arg) && arg !== file;
  return jobs
    .filter(({ name, args }) => name !== file && isTest(file) && args.includes(file))
    .map((job) => ({ ...job, name: file, args: job.args.filter((arg) => !isOther(arg)) }));
}

function step(name: string, program: string, args: readonly string[]): Job {
  return {
    name,
    suite: name,
    tier: 'gate',
    isTimed: false,
    after: [],
    program,
    args,
    env: {},
    counting: 'exit-code',
    limitMs: 8 * minuteMs,
    isRetried: false,
  };
}

function steps(): readonly Job[] {
  const node = process.execPath;
  const installs = [
    step('vscode-host', node, ['test/vscode/host/install.mjs']),
    step('agents-under-test', node, ['test/agents-under-test/install.mjs']),
    step('forge-schemas', node, ['test/forge/schemas/install.mjs']),
  ];
  return [
    step('build', node, ['esbuild.config.mjs']),
    ...installs.map((job) => ({ ...job, limitMs: 20 * minuteMs })),
    step('types', bin('tsc'), ['-b']),
    step('lint', bin('oxlint'), ['--type-aware', '--deny-warnings', '.']),
    step('format', bin('oxfmt'), ['--check', '.']),
    step('package', node, ['bin/node24.mjs', 'build/vsix.mjs']),
  ];
}

function jobsOf(suite: Suite): readonly Job[] {
  const files = suite.specs.flatMap(testFiles);
  if (suite.job !== undefined) return [mochaJob(suite, suite.job, files)];
  return files.map((file) => mochaJob(suite, file, [file]));
}

function mochaJob(suite: Suite, name: string, files: readonly string[]): Job {
  const { limitMs, isRetried, testMs } = suite;
  const isOfAgents = needsAgents.test(name) && !suite.after.includes('agents-under-test');
  const reporter = join(root, 'test', 'runner', 'reporter.mjs');
  const options = ['--reporter', reporter, '--reporter-option', 'output={report}'];
  for (const name of ['random.mjs', 'limits.mjs']) {
    options.push('--require', join(root, 'test', 'runner', name));
  }
  return {
    name,
    suite: suite.name,
    tier: soakFiles.has(name) ? 'soak' : 'gate',
    isTimed: suite.isTimed === true,
    after: isOfAgents ? [...suite.after, 'agents-under-test'] : suite.after,
    program: process.execPath,
    args: [mocha, '--ui', 'tdd', ...options, '--timeout', String(testMs), '--exit', ...files],
    env: {
      DROVER_E2E_DIST: dist,
      DROVER_TEST_DIST: dist,
      DROVER_TEST_LIMIT_MS: String(Math.min(testMs, ownLimitMsMin)),
      ...suite.env,
    },
    counting: 'mocha',
    limitMs,
    isRetried,
  };
}

/** Each plan in the extension host is a separate workbench; the program knows their names. */
function inHostJobs(): readonly Job[] {
  const script = 'test/vscode/in-host/run.mjs';
  const text = readFileSync(join(root, script), 'utf8');
  const table = /^const plans = \{$(.*?)^\};$/ms.exec(text)?.[1] ?? '';
  const plans = [...table.matchAll(/^ {2}'?([\w-]+)'?: \{/gm)].map(([, name]) => name as string);
  if (plans.length === 0) throw new Error(`${script} has no plans`);
  return plans.map((plan) => ({
    name: `in-host ${plan}`,
    suite: 'in-host',
    tier: soakPlans.has(plan) ? 'soak' : 'gate',
    isTimed: true,
    after: ['build', 'package', 'vscode-host'],
    program: process.execPath,
    args: [script, '--vsix', vsixFile(), plan],
    env: {},
    counting: 'last-line',
    limitMs: 12 * minuteMs,
    isRetried: true,
  }));
}

function testFiles(spec: string): readonly string[] {
  if (spec.endsWith('.ts')) return [spec];
  return readdirSync(join(root, spec), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(spec, name))
    .sort();
}
