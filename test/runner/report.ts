// The texts of a run: a line for each job when it ends, the tables of times, the failures, and the
// closing line.

import { type Failure, isGreen, type Outcome } from './job.ts';
import type { LastRun } from './times.ts';

const slowestCount = 20;

export function jobLine(outcome: Outcome, atMs: number): string {
  const state = isGreen(outcome) ? 'ok  ' : 'FAIL';
  const counts = [`${outcome.passed} passed`];
  if (!isGreen(outcome)) counts.push(`${outcome.failures.length} failed`);
  const times = `${seconds(outcome.durationMs)}, CPU ${seconds(outcome.cpuMs)}`;
  const name = outcome.job === outcome.suite ? outcome.job : `${outcome.suite}: ${outcome.job}`;
  return `${clock(atMs)} ${state} ${name} (${counts.join(', ')}; ${times})`;
}

/** Lists jobs without stored times; empty if there are none. */
export function untimedText(names: readonly string[]): string {
  if (names.length === 0) return '';
  return `No times are kept of ${names.length} jobs, whose place in the queue is a guess: ${names.join(', ')}. A whole run with --keep-times stores them.`;
}

export function failureText(outcome: Outcome): string {
  const name = outcome.job === outcome.suite ? outcome.job : `${outcome.suite}: ${outcome.job}`;
  const tell = ({ title, why }: Failure): string => [`${name}: ${title}`, why].join('\n').trimEnd();
  return outcome.failures.map(tell).join('\n\n');
}

export function timesTables({ outcomes, durationMs, machineCpuMs }: LastRun): string {
  return [
    suiteTable(outcomes),
    slowestTable(outcomes),
    `The whole run: ${minutes(durationMs)} minutes; the machine computed ${minutes(machineCpuMs)} minutes.`,
  ].join('\n\n');
}

/** Every file of every suite. */
export function fileTable(outcomes: readonly Outcome[]): string {
  return table(['file', 'time', 'CPU'], rowsOf(outcomes).toSorted(byName).map(rowText));
}

function suiteTable(outcomes: readonly Outcome[]): string {
  const suites = [...new Set(outcomes.map(({ suite }) => suite))];
  const rows = suites.map((suite) => {
    const own = outcomes.filter((outcome) => outcome.suite === suite);
    const sum = (pick: (outcome: Outcome) => number): number =>
      own.reduce((total, outcome) => total + pick(outcome), 0);
    const passed = sum((outcome) => outcome.passed);
    const failed = sum(({ failures }) => failures.length);
    const times = [sum(({ durationMs }) => durationMs), sum(({ cpuMs }) => cpuMs)].map(seconds);
    return [suite, String(own.length), String(passed), String(failed), ...times];
  });
  return table(['suite', 'jobs', 'passed', 'failed', 'time', 'CPU'], rows);
}

function slowestTable(outcomes: readonly Outcome[]): string {
  const slowest = rowsOf(outcomes)
    .toSorted((a, b) => b.durationMs - a.durationMs)
    .slice(0, slowestCount);
  return table([`the ${slowest.length} slowest`, 'time', 'CPU'], slowest.map(rowText));
}

interface Row {
  readonly name: string;
  readonly durationMs: number;
  readonly cpuMs: number;
}

function rowsOf(outcomes: readonly Outcome[]): readonly Row[] {
  return outcomes.flatMap(({ job, durationMs, cpuMs, files }): readonly Row[] => {
    if (files.length < 2) return [{ name: job, durationMs, cpuMs }];
    return files.map((file) => ({ ...file, name: file.file }));
  });
}

const byName = (a: Row, b: Row): number => (a.name < b.name ? -1 : 1);
const rowText = (row: Row): string[] => [row.name, seconds(row.durationMs), seconds(row.cpuMs)];

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((word, at) =>
    Math.max(word.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)))
      .join('  ');
  return [line(head), ...rows.map(line)].join('\n');
}

export interface Closing {
  readonly outcomes: readonly Outcome[];
  readonly flaky: readonly Outcome[];
}

/**
 * A line `note: …` that a test printed is repeated at the end: nothing failed, but something should
 * be changed.
 */
const noteLine = /^\s*note: (.+)$/gm;

/** Notes, flaky tests, failures, and the separate closing line. */
export function closingText({ outcomes, flaky }: Closing): string {
  const parts: string[] = [];
  const notes = outcomes.flatMap(({ job, output }) =>
    [...output.matchAll(noteLine)].map(([, note]) => `${job}: ${note}`),
  );
  if (notes.length > 0) parts.push(`Notes:\n\n${notes.join('\n')}`);
  if (flaky.length > 0) {
    const told = flaky.map(failureText).join('\n\n');
    parts.push(`Flaky: failed beside other tests, passed alone\n\n${told}`);
  }
  const failed = outcomes.filter((outcome) => !isGreen(outcome));
  if (failed.length > 0) parts.push(`What failed:\n\n${failed.map(failureText).join('\n\n')}`);
  const sum = (pick: (outcome: Outcome) => number): number =>
    outcomes.reduce((total, outcome) => total + pick(outcome), 0);
  const passedCount = sum(({ passed }) => passed);
  const failedCount = sum(({ failures }) => failures.length);
  return [...parts, `${passedCount} passed, ${failedCount} failed`].join('\n\n');
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const minutes = (ms: number): string => (ms / 60_000).toFixed(1);

function clock(ms: number): string {
  const whole = Math.round(ms / 1_000);
  return `${String(Math.floor(whole / 60)).padStart(3)}:${String(whole % 60).padStart(2, '0')}`;
}
