// An unreachable shared remote is not a task's fault: if an answer can carry a failure, it becomes
// one; other callers wait for the remote, so that no attempt is used and no agent works twice.

import { failure, type Failure } from '../../core/failure.ts';
import { isFullDisk } from '../../core/full-disk.ts';
import { type GitFailure, type GitResult, GitRefusal } from '../../git/port.ts';
import type { DurableRun } from '../../durable/port.ts';
import { othersLand, type Tx } from '../../store/port.ts';
import type { Uses } from './engine-ports.ts';
import { ownFilesFailure } from './full-disk.ts';

/** The result of `body`; or the result of `otherwise` for the problem, if git could not answer. */
export async function withGitFallback<T>(
  body: () => Promise<T>,
  otherwise: (trouble: Failure) => T | Promise<T>,
): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (!(error instanceof GitRefusal)) throw error;
    return otherwise(gitFailed(error.failure));
  }
}

export function gitFailed({ isAway, kind, message }: GitFailure): Failure {
  const failed = failure(kind === 'disk_full' ? 'disk_full' : 'git_failed', message);
  if (isAway) passing.add(failed);
  return failed;
}

/**
 * Recognizes errors that are not the task's fault: the disk had no space for Drover's own files (a
 * log, a prompt), or git may answer later. Returns null if it is a bug or permanent.
 */
export function passingFailure(error: unknown): Failure | null {
  if (error instanceof GitRefusal) {
    return error.failure.retryable ? gitFailed(error.failure) : null;
  }
  // Not the database's: its full disk ends no agent, and is waited for like its absence.
  return isFullDisk(error) ? ownFilesFailure(error.message) : null;
}

/** Failures of this process that pass by themselves. */
const passing = new WeakSet<Failure>();

export function isPassingTrouble(error: unknown): boolean {
  return error instanceof GitRefusal && error.failure.isAway === true;
}

/**
 * Takes the line for one execution of a landing workflow, outside its steps: again whenever it
 * starts, here or on another machine. Later calls only retry failed ones: an owner that was
 * replaced in the meantime must not take it back. The first of them does not wait once more for a
 * remote that has just not answered.
 */
export async function ownLine(
  engine: Uses<'git'>,
  line: string,
): Promise<() => Promise<GitResult<void>>> {
  let owned = await engine.git.ownLine(line);
  let isTold = owned.ok || owned.error.isAway !== true;
  return async () => {
    if (!owned.ok && isTold) owned = await engine.git.ownLine(line);
    isTold = true;
    return owned;
  };
}

/** The adapter itself has tried for half a minute before each of these. */
const waitsMax = 30;
const waitMs = 15_000;

/**
 * Retries while the outcome is an unreachable remote, within limits and until it is aborted.
 * `leave`: called as soon as another machine can land, so that nothing that others can do waits for
 * this machine's network; null keeps it waiting.
 */
export async function retryWhileUnreachable<T>(
  engine: Uses<'clock' | 'machineId' | 'report' | 'store'>,
  signal: AbortSignal,
  body: () => Promise<T>,
  troubleIn: (outcome: T) => Failure | null,
  leave: ((trouble: Failure) => Promise<T | null>) | null = null,
): Promise<T> {
  for (let waits = 0; ; waits += 1) {
    const outcome = await body();
    const trouble = troubleIn(outcome);
    if (trouble === null || !passing.has(trouble) || waits >= waitsMax || signal.aborted) {
      return outcome;
    }
    if (leave !== null && (await othersLand(engine.store.db, engine.machineId))) {
      engine.report(trouble, 'another machine continues');
      const left = await leave(trouble);
      if (left !== null) return left;
    }
    engine.report(trouble, 'waiting for git');
    await pause(engine, signal);
  }
}

/** Leaves a landing: its workflow continues on a machine on which git answers. */
export function handOverOnTrouble(run: DurableRun<Tx>): () => Promise<never> {
  return () => Promise.reject(run.handOver());
}

function pause(engine: Uses<'clock'>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const off = engine.clock.timer(waitMs, done);
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      off();
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
}
