// Jobs and outcomes for the tests of the test runner.

import type { Job, Outcome } from '../../runner/job.ts';

export function jobNamed(name: string, more: Partial<Job> = {}): Job {
  return {
    name,
    suite: 'a suite',
    tier: 'gate',
    isTimed: false,
    after: [],
    program: 'true',
    args: [],
    env: {},
    counting: 'exit-code',
    limitMs: 60_000,
    isRetried: true,
    ...more,
  };
}

export function outcomeNamed(job: string, failures: number, more: Partial<Outcome> = {}): Outcome {
  return {
    job,
    suite: 'a suite',
    passed: 2,
    failures: Array.from({ length: failures }, (_, at) => ({ title: `test ${at}`, why: 'broken' })),
    durationMs: 1_000,
    cpuMs: 500,
    files: [],
    isBlocked: false,
    output: '',
    ...more,
  };
}
