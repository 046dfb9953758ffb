// Which failed jobs run a second time. A test that drives real processes, browsers or VS Code can
// fail because of load; the second time, nothing else runs. Tests that then pass are reported as
// flaky.

import { isGreen, type Job, type Outcome } from './job.ts';

/** More failures than this have a common cause other than load. */
export const retriesMax = 8;

/** The jobs to run once more, alone. If they are more than `retriesMax`, none of them runs. */
export function retriesFor(jobs: readonly Job[], outcomes: readonly Outcome[]): readonly Job[] {
  const failed = outcomes.filter((outcome) => !isGreen(outcome) && !outcome.isBlocked);
  return jobs.filter((job) => job.isRetried && failed.some((outcome) => outcome.job === job.name));
}

export interface Judged {
  /** One for each job: the last one. */
  readonly outcomes: readonly Outcome[];
  /** First failures of jobs that passed the second time. */
  readonly flaky: readonly Outcome[];
}

export function judge(first: readonly Outcome[], second: readonly Outcome[]): Judged {
  const later = new Map(second.map((outcome) => [outcome.job, outcome]));
  const flaky = first.filter((outcome) => {
    const again = later.get(outcome.job);
    return !isGreen(outcome) && again !== undefined && isGreen(again);
  });
  return { outcomes: first.map((outcome) => later.get(outcome.job) ?? outcome), flaky };
}
