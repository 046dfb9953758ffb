// Decides whether an agent gets a red check at once, or its job runs a second time first. Pure.

import type { Check } from './pull-facts.ts';

/** A request to run the job of a check again. There is one per check and head. */
export interface Rerun {
  readonly check: string;
  readonly job: number;
  readonly state: 'pending' | 'done' | 'failed';
  /** Why the request failed. */
  readonly answer: string | null;
  readonly endedAtMs: number | null;
}

/**
 * GitHub needs a moment to show the new job. If it shows none within this time, the old job counts.
 */
const startMaxMs = 10 * 60_000;

/**
 * `isOurs`: whether the failure is about this work. Null if the log was not read or cannot be read.
 */
export function rerunStep(
  check: Check,
  all: readonly Check[],
  { rerun, isOurs, nowMs }: { rerun: Rerun | null; isOurs: boolean | null; nowMs: number },
): 'give' | 'rerun' | 'wait' {
  if (check.job === null) return 'give';
  if (rerun !== null) {
    if (rerun.state === 'failed' || rerun.job !== check.job) return 'give';
    const isNew = rerun.state === 'pending' || nowMs - (rerun.endedAtMs ?? 0) < startMaxMs;
    return isNew ? 'wait' : 'give';
  }
  if (isOurs !== false) return 'give';
  // GitHub cannot rerun a job while another job of the same workflow is running.
  return all.some(({ job, state }) => job !== null && state === 'running') ? 'wait' : 'rerun';
}

/**
 * Describes for people which jobs of red checks run again, or could not be run again. Each text is
 * a clause.
 */
export function rerunNotes(reruns: readonly Rerun[], checks: readonly Check[]): readonly string[] {
  const open = reruns.filter(({ check }) =>
    checks.some(({ name, state }) => name === check && state !== 'green'),
  );
  return open.map(({ check, state, answer }) =>
    state === 'failed'
      ? `the job "${check}" could not be run again: ${(answer ?? '').replace(/\.$/u, '')}`
      : `the job "${check}" runs once more, because its log names no file of this work`,
  );
}
