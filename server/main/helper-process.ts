// Runs the backend's git processes from a small process beside it: begun when much is to be done, let go when idle,
// begun again when it died. Whatever state it is in, callers may run git themselves instead.

import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { RunElsewhere } from '../git/process.ts';
import { killGraceMs, noOutput, type GitOutput, type GitRequest } from '../git/run-once.ts';
import type { FromHelper, ToHelper } from './helper-messages.ts';

export interface HelperProcess {
  readonly run: RunElsewhere;
  /** Lets go of it; what it still runs, it brings to an end. */
  close(): void;
}

export interface HelperOptions {
  /** This many requests within `busyWithinMs` begin it: a command that asks a little never pays for it. */
  readonly busyRequests: number;
  readonly busyWithinMs: number;
  readonly idleMs: number;
  readonly program: string;
}

const defaults: HelperOptions = {
  busyRequests: 12,
  busyWithinMs: 10_000,
  idleMs: 10_000,
  program: helperProgram(),
};

/** After it died, it is left alone for a while: it may die of what will not pass soon. */
const restMs = 30_000;
/** Added to a request's own limit: beyond both it is taken for hung. */
const answerGraceMs = killGraceMs + 5_000;

interface Waiting {
  readonly answer: (output: GitOutput | Error) => void;
}

/** `ready` only after it has said so; until then callers run git themselves. */
interface Helper {
  readonly child: ChildProcess;
  readonly waiting: Map<number, Waiting>;
  readonly environments: Map<Readonly<Record<string, string>>, number>;
  ready: boolean;
  idleTimer: NodeJS.Timeout | null;
}

export function createHelperProcess(given: Partial<HelperOptions> = {}): HelperProcess {
  const options = { ...defaults, ...given };
  let helper: Helper | null = null;
  let nextId = 1;
  let restUntil = 0;
  let recentSince = 0;
  let recentCount = 0;
  let closed = false;

  const isBusy = (): boolean => {
    const now = performance.now();
    if (now - recentSince > options.busyWithinMs) {
      recentSince = now;
      recentCount = 0;
    }
    recentCount += 1;
    return recentCount > options.busyRequests;
  };
  const lose = (lost: Helper): void => {
    if (helper === lost) helper = null;
    if (lost.idleTimer !== null) clearTimeout(lost.idleTimer);
    if (lost.waiting.size > 0) restUntil = performance.now() + restMs;
    for (const { answer } of lost.waiting.values()) answer(noOutput('aborted'));
    lost.waiting.clear();
  };
  const letGo = (idle: Helper): void => {
    if (helper === idle) helper = null;
    if (idle.child.connected) idle.child.disconnect();
  };
  const begin = (): Helper => {
    const begun = startHelper(options.program);
    const { child } = begun;
    child.on('message', (message: FromHelper) => {
      hear(begun, message);
    });
    child.once('error', () => lose(begun));
    child.once('exit', () => lose(begun));
    child.once('disconnect', () => lose(begun));
    return begun;
  };
  const run: RunElsewhere = (request, signal) => {
    if (closed || !isBusy()) return null;
    if (helper === null && performance.now() >= restUntil) helper = begin();
    if (helper === null || !helper.ready || !helper.child.connected) return null;
    if (signal?.aborted) return Promise.resolve(noOutput('aborted'));
    const id = nextId;
    nextId += 1;
    return ask(helper, id, request, signal, { idleMs: options.idleMs, letGo });
  };
  return {
    run,
    close: () => {
      closed = true;
      if (helper !== null) letGo(helper);
    },
  };
}

function hear(helper: Helper, message: FromHelper): void {
  switch (message.kind) {
    case 'ready':
      helper.ready = true;
      return;
    case 'output':
      helper.waiting.get(message.id)?.answer(message.output);
      return;
    case 'threw':
      helper.waiting.get(message.id)?.answer(new Error(message.message));
      return;
  }
}

function startHelper(program: string): Helper {
  const child = fork(program, [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: ['--no-warnings', '--max-semi-space-size=1'],
    env: ownEnvironment(),
  });
  // Neither it nor its channel keeps this process alive; only an open question does.
  child.unref();
  child.channel?.unref();
  return { child, waiting: new Map(), environments: new Map(), ready: false, idleTimer: null };
}

/** What Node itself needs; git gets its environment with each request. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'SystemRoot', 'TEMP', 'TMPDIR', 'ELECTRON_RUN_AS_NODE'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

interface IdleRule {
  readonly idleMs: number;
  readonly letGo: (helper: Helper) => void;
}

function ask(
  helper: Helper,
  id: number,
  request: GitRequest,
  signal: AbortSignal | null,
  idle: IdleRule,
): Promise<GitOutput> {
  const { child, waiting } = helper;
  if (helper.idleTimer !== null) clearTimeout(helper.idleTimer);
  helper.idleTimer = null;
  if (waiting.size === 0) child.channel?.ref();
  return new Promise((resolve, reject) => {
    const onAbort = (): void => send(child, { kind: 'abort', id });
    const hung = setTimeout(() => child.kill('SIGKILL'), request.timeoutMs + answerGraceMs);
    const answer = (output: GitOutput | Error): void => {
      clearTimeout(hung);
      signal?.removeEventListener('abort', onAbort);
      waiting.delete(id);
      if (waiting.size === 0 && child.connected) {
        child.channel?.unref();
        helper.idleTimer = setTimeout(() => idle.letGo(helper), idle.idleMs).unref();
      }
      if (output instanceof Error) reject(output);
      else resolve(output);
    };
    waiting.set(id, { answer });
    signal?.addEventListener('abort', onAbort, { once: true });
    const { environment, ...rest } = request;
    const number = environmentNumber(helper, environment);
    send(child, { kind: 'git', id, environment: number, request: rest });
  });
}

function environmentNumber(helper: Helper, variables: Readonly<Record<string, string>>): number {
  const known = helper.environments.get(variables);
  if (known !== undefined) return known;
  const number = helper.environments.size;
  helper.environments.set(variables, number);
  send(helper.child, { kind: 'environment', number, variables });
  return number;
}

/** A channel that broke says so by `disconnect`, which answers everything that waits. */
function send(child: ChildProcess, message: ToHelper): void {
  if (child.connected) child.send(message, () => undefined);
}

/** Bundled: a file beside this one. From the sources: the entry itself, run by Node without a build. */
function helperProgram(): string {
  const bundled = fileURLToPath(new URL('./helper.js', import.meta.url));
  return existsSync(bundled)
    ? bundled
    : fileURLToPath(new URL('./helper-main.ts', import.meta.url));
}
