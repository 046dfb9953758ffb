// Ends a program that runs too long, prints too much, or is no longer needed.

import type { ChildProcess } from 'node:child_process';
import { thisPlatform } from './this-platform.ts';

/** Why a program has no exit code. */
export type ProgramProblem = 'missing' | 'timeout' | 'aborted' | 'too_much_output';

/** Git removes its lock files on SIGTERM, which takes time on a busy machine. */
const killGraceMsDefault = 5_000;
/** A process in an uninterruptible system call survives SIGKILL until the call returns. */
const abandonGraceMs = 2_000;

export interface EndingLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | null;
  /** Time between SIGTERM and SIGKILL; 5 s by default. */
  readonly killGraceMs?: number;
}

/**
 * Sends SIGTERM, then SIGKILL, then calls `abandon`, so that callers wait at most `timeoutMs` +
 * `killGraceMs` + 2 s after the start. `clear` ends all of that.
 */
export class Ending {
  readonly #signal: AbortSignal | null;
  readonly #killGraceMs: number;
  readonly #kill: (signal: NodeJS.Signals) => void;
  readonly #abandon: () => void;
  #timer: NodeJS.Timeout;
  problem: ProgramProblem | null = null;

  constructor(
    { timeoutMs, signal, killGraceMs = killGraceMsDefault }: EndingLimits,
    kill: (signal: NodeJS.Signals) => void,
    abandon: () => void,
  ) {
    this.#kill = kill;
    this.#abandon = abandon;
    this.#signal = signal;
    this.#killGraceMs = killGraceMs;
    this.#timer = setTimeout(() => this.end('timeout'), timeoutMs);
    signal?.addEventListener('abort', this.#onAbort, { once: true });
  }

  readonly #onAbort = (): void => this.end('aborted');

  end(why: ProgramProblem): void {
    if (this.problem !== null) return;
    this.problem = why;
    this.clear();
    this.#kill('SIGTERM');
    this.#timer = setTimeout(() => {
      this.#kill('SIGKILL');
      this.#timer = setTimeout(this.#abandon, abandonGraceMs);
    }, this.#killGraceMs);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
  }
}

/**
 * Signals a child and its whole process group, because a program's children (ssh, a credential
 * helper, a hook) would outlive it otherwise. The child must have been started with `detached`.
 * Without process groups, only the child is signaled.
 */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  if (!thisPlatform.hasProcessGroups) {
    child.kill(signal);
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The whole group has ended.
  }
}
