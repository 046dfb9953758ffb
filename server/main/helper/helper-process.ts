// Runs the backend's git processes, and starts its agents, from a small process beside it: started
// when there is much to do, stopped when idle, restarted when it died. In any state, callers may do
// the same work themselves.

import type { AgentExit, AgentElsewhere, SpawnElsewhere } from '../../agents/kit/process/spawn.ts';
import type { RunElsewhere } from '../../git/process/process.ts';
import {
  killGraceMs,
  noOutput,
  type GitOutput,
  type GitRequest,
} from '../../git/process/run-once.ts';
import { HelperChannel } from './helper-channel.ts';
import { ownProgram } from '../project/own-program.ts';

export interface HelperOptions {
  /**
   * This many requests within `busyWithinMs` start it, so that a command with few requests does not
   * pay for it.
   */
  readonly busyRequests: number;
  readonly busyWithinMs: number;
  readonly idleMs: number;
  readonly program: string;
}

const defaults: HelperOptions = {
  busyRequests: 12,
  busyWithinMs: 10_000,
  idleMs: 10_000,
  program: ownProgram('helper.cjs', 'helper-main'),
};

/**
 * After it died in the middle of something it is left alone for a while: the cause may not pass at
 * once.
 */
const restMs = 30_000;
/** Added to a git process's own limit: beyond both, the helper is taken for hung. */
const answerGraceMs = killGraceMs + 5_000;
/** An agent is started within this, or the helper is taken for hung. */
const startMsMax = 10_000;

export class HelperProcess {
  readonly #options: HelperOptions;
  #channel: HelperChannel | null = null;
  #restUntil = 0;
  #countedSince = Number.NEGATIVE_INFINITY;
  #counted = 0;
  #isClosed = false;

  constructor(given: Partial<HelperOptions> = {}) {
    this.#options = { ...defaults, ...given };
  }

  readonly runGit: RunElsewhere = (request, signal) => {
    const channel = this.#usable();
    return channel === null ? null : runGit(channel, request, signal);
  };

  readonly spawnAgent: SpawnElsewhere = (request) => {
    const channel = this.#usable();
    return channel === null ? null : startAgent(channel, request);
  };

  close(): void {
    this.#isClosed = true;
    this.#channel?.letGo();
  }

  #usable(): HelperChannel | null {
    if (this.#channel?.isReady) return this.#channel;
    const now = performance.now();
    const mayBegin = !this.#isClosed && this.#channel === null;
    if (mayBegin && this.#isBusy(now) && now >= this.#restUntil) this.#channel = this.#begin();
    return null;
  }

  #isBusy(now: number): boolean {
    if (now - this.#countedSince > this.#options.busyWithinMs) {
      this.#countedSince = now;
      this.#counted = 0;
    }
    this.#counted += 1;
    return this.#counted > this.#options.busyRequests;
  }

  #begin(): HelperChannel {
    const { program, idleMs } = this.#options;
    const begun = new HelperChannel(program, idleMs, (wasInUse) => {
      if (this.#channel === begun) this.#channel = null;
      if (wasInUse) this.#restUntil = performance.now() + restMs;
    });
    return begun;
  }
}

function runGit(
  channel: HelperChannel,
  request: GitRequest,
  signal: AbortSignal | null,
): Promise<GitOutput> {
  if (signal?.aborted) return Promise.resolve(noOutput('aborted'));
  return new Promise((resolve, reject) => {
    const hung = setTimeout(() => channel.kill(), request.timeoutMs + answerGraceMs);
    const end = (): void => {
      clearTimeout(hung);
      signal?.removeEventListener('abort', onAbort);
      channel.close(id);
    };
    const id = channel.open({
      hear: (message) => {
        end();
        if (message.kind === 'output') resolve(message.output);
        else reject(new Error(message.kind === 'threw' ? message.message : message.kind));
      },
      lost: () => {
        end();
        resolve(noOutput('aborted'));
      },
    });
    const onAbort = (): void => channel.send({ kind: 'abort', id });
    signal?.addEventListener('abort', onAbort, { once: true });
    const { environment, ...rest } = request;
    const number = channel.environmentNumber(environment);
    channel.send({ kind: 'git', id, environment: number, request: rest });
  });
}

function startAgent(
  channel: HelperChannel,
  request: Parameters<SpawnElsewhere>[0],
): Promise<AgentElsewhere | null> {
  const exited = Promise.withResolvers<AgentExit | null>();
  return new Promise((resolve, reject) => {
    const hung = setTimeout(() => channel.kill(), startMsMax);
    const id = channel.open({
      hear: (message) => {
        clearTimeout(hung);
        if (message.kind === 'started') {
          const release = (): void => channel.send({ kind: 'release', id });
          resolve({ process: message.process, release, exited: exited.promise });
          return;
        }
        channel.close(id);
        if (message.kind === 'exited') exited.resolve(message.exit);
        else reject(new Error(message.kind === 'threw' ? message.message : message.kind));
      },
      lost: () => {
        clearTimeout(hung);
        resolve(null);
        exited.resolve(null);
      },
    });
    channel.send({ kind: 'agent', id, request });
  });
}
