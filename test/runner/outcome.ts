// Reads a job's result from its files: a report, a last line with the numbers, or its exit code.

import type { Failure, FileTimes, Job, Outcome } from './job.ts';

export interface Ending {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly output: string;
  /** The reporter's output; null if it was not written. */
  readonly report: string | null;
  readonly durationMs: number;
  readonly cpuMs: number;
  /** It was killed at its time limit. */
  readonly isLate: boolean;
}

/** Maximum number of characters of a failure's text. */
const failureCharsMax = 1_500;

export function outcomeOf(job: Job, ending: Ending): Outcome {
  const counted = count(job, ending);
  const failures = [...counted.failures];
  const why = ending.output.trimEnd().slice(-failureCharsMax);
  if (ending.isLate) {
    failures.push({ title: `was stopped after ${job.limitMs / 60_000} minutes`, why });
  } else if (ending.code !== 0 && failures.length === 0) {
    failures.push({ title: `ended with exit code ${ending.code}`, why });
  } else if (counted.passed + failures.length === 0) {
    failures.push({ title: 'had no test to run', why });
  }
  return {
    job: job.name,
    suite: job.suite,
    passed: counted.passed,
    failures,
    durationMs: ending.durationMs,
    cpuMs: ending.cpuMs,
    files: counted.files,
    isBlocked: false,
    output: ending.output,
  };
}

/** The outcome of a job that could not start. */
export function blockedOutcome(job: Job, by: string): Outcome {
  const failure = { title: `did not run, because ${by} failed`, why: '' };
  const times = { durationMs: 0, cpuMs: 0, files: [], output: '' };
  const { name, suite } = job;
  return { job: name, suite, passed: 0, failures: [failure], isBlocked: true, ...times };
}

interface Counted {
  readonly passed: number;
  readonly failures: readonly Failure[];
  readonly files: readonly FileTimes[];
}

function count(job: Job, ending: Ending): Counted {
  switch (job.counting) {
    case 'exit-code':
      return { passed: ending.code === 0 ? 1 : 0, failures: [], files: [] };
    case 'last-line':
      return countLastLine(ending.output);
    case 'mocha':
      return countReport(ending.report);
  }
}

function countReport(report: string | null): Counted {
  if (report === null) return { passed: 0, failures: [], files: [] };
  const told = JSON.parse(report) as Counted;
  const failures = told.failures.map(({ title, why }) => {
    return { title, why: why.slice(0, failureCharsMax) };
  });
  return { passed: told.passed, failures, files: told.files };
}

/**
 * The last line `NAME: N passed, M failed`, and for each part under a header `-- …` the text after
 * "N failing".
 */
function countLastLine(output: string): Counted {
  const numbers = [...output.matchAll(/^[\w-]+: (\d+) passed, (\d+) failed$/gm)].at(-1);
  const passed = Number(numbers?.[1] ?? 0);
  const failed = Number(numbers?.[2] ?? 0);
  const parts = output.split(/^(?=-- )/m).flatMap((part) => {
    const at = part.search(/^ *\d+ failing$/m);
    return at < 0 ? [] : [part.slice(at).trimEnd()];
  });
  const words = parts.length > 0 ? parts.join('\n') : output.trimEnd().slice(-failureCharsMax);
  const failures = Array.from({ length: failed }, (_, at) => {
    return {
      title: `${at + 1} of ${failed} failed`,
      why: at === 0 ? words.slice(0, failureCharsMax * 2) : '',
    };
  });
  return { passed, failures, files: [] };
}
