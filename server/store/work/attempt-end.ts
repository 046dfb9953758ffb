// Ends an attempt that did not succeed: records its failure and applies the effects on its task.

import type { Failure } from '../../core/failure.ts';
import { setAttempt } from './claims.ts';
import type { StoreSources } from '../feed/feed.ts';
import type { Reads, Tx } from '../schema/tables.ts';
import { transition, type TransitionOutcome, noOwner } from '../status/transition.ts';

export interface AttemptFailure {
  readonly taskId: string;
  readonly epoch: number;
  readonly attempt: number;
  readonly runId: string | null;
  readonly failure: Failure;
  /** Unix ms of the next try, if an attempt is left. */
  readonly retryAtMs: number;
  /** The task's status if no attempt is left. */
  readonly atEnd: 'failed' | 'conflict';
  readonly conflictFiles?: readonly string[];
  /** The agent of the next attempt, if another one takes over. */
  readonly next?: NextAgent;
  /**
   * The task is not at fault: the same attempt continues later, in its worktree and with its
   * commits.
   */
  readonly goesOn?: boolean;
  /** The task is not at fault either, but only a new attempt can do it. */
  readonly isFree?: boolean;
}

export interface NextAgent {
  readonly agent: string;
  readonly model: string | null;
  /** False if the agent could not even start. */
  readonly usesAttempt: boolean;
}

/**
 * How often external problems use no attempt. After that each one counts, so that a task cannot
 * loop forever.
 */
const freeMax = 5;

/**
 * Kinds that the task did not cause: an unreachable remote, a full disk, a lock (also when finished
 * work is committed), a lost worker, an interrupted landing.
 */
const passingKinds: ReadonlySet<string> = new Set([
  'commit_failed',
  'git_failed',
  'disk_full',
  'worker_failed',
  'interrupted',
]);

/**
 * If the attempt may continue without being used up, returns how often it already continued after
 * this problem: its agent's work is in its worktree or committed, so only the remaining steps must
 * run. Returns null if the attempt counts.
 */
export async function goesOnAfter(
  tx: Reads,
  { taskId, attempt }: { readonly taskId: string; readonly attempt: number },
  { kind, retryable }: Pick<Failure, 'kind' | 'retryable'>,
): Promise<number | null> {
  if (kind === 'line_held') return 0;
  if (!retryable || !passingKinds.has(kind)) return null;
  return freeRetries(tx, taskId, `%"attempt":${attempt},%"kind":"${kind}"%`);
}

/**
 * If the next attempt is free because the previous one was interrupted, returns how many were free
 * already. Returns null if the attempt counts.
 */
export async function beginsFreely(tx: Reads, taskId: string): Promise<number | null> {
  return freeRetries(tx, taskId, `%"kind":"interrupted"%`);
}

/** How many retries matched the pattern. Returns null if no further one is free. */
async function freeRetries(tx: Reads, taskId: string, pattern: string): Promise<number | null> {
  const { n } = await tx
    .selectFrom('events')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('task_id', '=', taskId)
    .where('type', '=', 'task.retry')
    .where('data', 'like', pattern)
    .executeTakeFirstOrThrow();
  return Number(n) < freeMax ? Number(n) : null;
}

/**
 * Records a failed attempt: schedules the next one if attempts are left, otherwise ends the task.
 */
export async function failAttempt(
  tx: Tx,
  sources: StoreSources,
  end: AttemptFailure,
): Promise<TransitionOutcome> {
  const row = await tx
    .selectFrom('tasks')
    .select(['attempts', 'max_attempts', 'epoch'])
    .where('id', '=', end.taskId)
    .executeTakeFirst();
  if (row === undefined) return { ok: false, reason: 'unknown', status: null };
  if (row.epoch !== end.epoch) return { ok: false, reason: 'fenced', status: null };
  const { next, goesOn = false, isFree = false } = end;
  const used = row.attempts + (goesOn || isFree || next?.usesAttempt === false ? 0 : 1);
  const again = (end.failure.retryable || next !== undefined) && used < row.max_attempts;
  await setAttempt(tx, end.taskId, end.attempt, {
    state: goesOn && again ? 'interrupted' : 'failed',
    ended_at_ms: goesOn && again ? null : sources.clock.now(),
    failure_kind: end.failure.kind,
    error: end.failure.message,
    error_detail: end.failure.detail ?? null,
    pid: null,
    pid_start: null,
  });
  return transition(tx, sources, {
    taskId: end.taskId,
    epoch: end.epoch,
    to: again ? 'ready' : end.atEnd,
    event: again ? 'task.retry' : end.atEnd === 'conflict' ? 'task.conflict' : 'task.failed',
    runId: end.runId,
    data: {
      attempt: end.attempt,
      attempts: used,
      kind: end.failure.kind,
      error: end.failure.message,
      ...(again ? { next_attempt_at: Math.ceil(end.retryAtMs / 1000) } : {}),
      ...(again && next !== undefined ? { next_agent: next.agent, next_model: next.model } : {}),
      ...(end.conflictFiles === undefined ? {} : { files: end.conflictFiles }),
    },
    set: {
      attempts: used,
      last_error: end.failure.message,
      next_attempt_at_ms: again ? end.retryAtMs : null,
      verdict: 'fail',
      verdict_reason: end.failure.message.slice(0, 200),
      conflict_files: JSON.stringify(end.conflictFiles ?? []),
      ...noOwner,
    },
  });
}
