// Whether a red check goes to an agent at once, or its job runs a second time first. Pure.

import type { Check } from './pull-facts.ts';

/** The request to run the job of a check again; one for each check and head. */
export interface Rerun {
  readonly check: string;
  readonly job: number;
  readonly state: 'pending' | 'done' | 'failed';
  /** Why it failed. */
  readonly answer: string | null;
  readonly endedAtMs: number | null;
}

/** GitHub needs a moment to show the new job; without one after this time, the old one counts. */
const startMaxMs = 10 * 60_000;

/** `log`: null if it was not read or cannot be. */
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
  // GitHub runs no job of a workflow again while another one of it is running.
  return all.some(({ job, state }) => job !== null && state === 'running') ? 'wait' : 'rerun';
}

/** What people read about the jobs of red checks that run again, or should have; clauses. */
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
