// Handles an unreachable git remote, which is not a task's fault. A caller whose result can carry a
// failure gets one. Other callers wait for the remote, so that no attempt is used and no agent
// repeats its work.

import { failure, type Failure } from '../../core/failure.ts';
import { isFullDisk } from '../../core/full-disk.ts';
import { type GitFailure, type GitResult, GitRefusal } from '../../git/port.ts';
import type { DurableRun } from '../../durable/port.ts';
import { othersLand, type Tx } from '../../store/port.ts';
import type { Uses } from './engine-ports.ts';
import { ownFilesFailure } from './full-disk.ts';

/** Returns the result of `body`, or that of `otherwise` if git could not answer. */
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
 * Recognizes errors that are not the task's fault: no disk space for Drover's own files, or git may
 * answer later. Returns null for bugs and permanent errors.
 */
export function passingFailure(error: unknown): Failure | null {
  if (error instanceof GitRefusal) {
    return error.failure.retryable ? gitFailed(error.failure) : null;
  }
  // Excludes the database: if its disk is full, Drover waits for it as it does when the database is
  // unreachable.
  return isFullDisk(error) ? ownFilesFailure(error.message) : null;
}

/** Failures of this process that pass by themselves. */
const passing = new WeakSet<Failure>();

export function isPassingTrouble(error: unknown): boolean {
  return error instanceof GitRefusal && error.failure.isAway === true;
}

/**
 * Takes ownership of the line for one execution of a landing workflow, outside of its steps, so
 * that a restart here or elsewhere takes it again. Later calls only retry failed ones, because a
 * replaced owner must not take the line back. The first retry does not wait for a remote that has
 * just failed to answer.
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

/** The git adapter already retries for half a minute before each of these waits. */
const waitsMax = 30;
const waitMs = 15_000;

/**
 * Retries while the remote is unreachable, up to a limit and until aborted. `leave` is called as
 * soon as another machine can land, so that work does not wait for this machine's network. With
 * null, it keeps waiting.
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

/** Leaves a landing, so that its workflow continues on a machine on which git works. */
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
