// `npm test [-- suite …]`: runs all suites in one queue and prints a closing line with the numbers.
// Options: `--times` prints the table of the last run, `--forecast` prints the time predicted from
// the stored times, `--keep-times` stores this run's times for the order of later ones,
// `--no-retries` counts a first failure, `--verbose` shows the output of each job, `--capacity N`
// uses N cores, `--renew-pictures` lets stories write `docs/images`, and `--patience N` lets tests
// wait N times as long as on an idle machine.

import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { forecast } from './forecast.ts';
import { isGreen, type Job, type Outcome } from './job.ts';
import { roomOf } from './queue.ts';
import { closingText, fileTable, timesTables, untimedText } from './report.ts';
import { judge, retriesFor, retriesMax } from './retries.ts';
import { Run } from './run.ts';
import { patienceDefault } from './run-job.ts';
import { allJobs, selectable, selectJobs, suiteNames } from './suites.ts';
import { setUpSystem } from './system-packages.ts';
import { keepTimes, keptTimes, readLastRun, storeRun, untimed } from './times.ts';

const { values, positionals } = parseArgs({
  options: {
    times: { type: 'boolean', default: false },
    'keep-times': { type: 'boolean', default: false },
    'no-retries': { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    forecast: { type: 'boolean', default: false },
    'renew-pictures': { type: 'boolean', default: false },
    capacity: { type: 'string' },
    patience: { type: 'string', default: String(patienceDefault) },
  },
  allowPositionals: true,
});

const patience = Number(values.patience);
const capacity = Number(values.capacity ?? availableParallelism());

async function runJobs(jobs: readonly Job[]): Promise<number> {
  const run = new Run({
    room: roomOf(capacity),
    expected: keptTimes(),
    isVerbose: values.verbose,
    patience,
  });
  const first: Outcome[] = [];
  await run.queue(jobs, (outcome) => first.push(outcome));
  const second = run.isStopped ? [] : await runAgain(run, jobs, first);
  await run.close();
  if (run.isStopped) first.push(cutOff(first.length, jobs.length));
  const judged = judge(first, second);
  const last = { outcomes: judged.outcomes, ...run.times() };
  storeRun(last);
  if (values['keep-times']) keepTimes(allJobs(), first);
  console.log(`\n${timesTables(last)}\n\n${closingText(judged)}`);
  return run.isStopped ? run.stopCode : Number(!judged.outcomes.every(isGreen));
}

/** A stopped run has not passed. */
function cutOff(ended: number, of: number): Outcome {
  const title = `was cut off: ${ended} of ${of} jobs had ended`;
  const times = { durationMs: 0, cpuMs: 0, files: [], output: '' };
  const failures = [{ title, why: '' }];
  return { job: 'the run', suite: 'the run', passed: 0, failures, isBlocked: true, ...times };
}

/**
 * Failures that a parallel job may have caused: each job runs once more, in turn, with nothing
 * beside it.
 */
async function runAgain(
  run: Run,
  jobs: readonly Job[],
  first: readonly Outcome[],
): Promise<Outcome[]> {
  const second: Outcome[] = [];
  const again = values['no-retries'] ? [] : retriesFor(jobs, first);
  if (again.length > retriesMax) {
    console.log(`\n${again.length} files failed: too many to run each once more.`);
    return second;
  }
  if (again.length > 0) console.log('\nOnce more, each alone:');
  for (const job of again) {
    await run.queue([{ ...job, after: [] }], (outcome) => second.push(outcome));
  }
  return second;
}

function printTimes(): number {
  const last = readLastRun();
  if (last === null) {
    console.error('No run has stored its times yet: run npm test first.');
    return 1;
  }
  console.log(`${fileTable(last.outcomes)}\n\n${timesTables(last)}`);
  return 0;
}

function printForecast(jobs: readonly Job[]): number {
  const { durationMs, cpuMs } = forecast(jobs, keptTimes(), roomOf(capacity), capacity);
  const minutes = (ms: number): string => (ms / 60_000).toFixed(1);
  console.log(
    `${jobs.length} jobs with ${minutes(cpuMs)} minutes of CPU take ${minutes(durationMs)} minutes on ${capacity} cores.`,
  );
  return 0;
}

async function main(): Promise<number> {
  if (values.times) return printTimes();
  const jobs = allJobs();
  const known = selectable(jobs);
  const unknown = positionals.filter((name) => !known.includes(name));
  if (unknown.length > 0 || !(capacity > 0) || !(patience > 0)) {
    const suites = suiteNames(jobs).join(', ');
    console.error(
      unknown.length > 0
        ? `${unknown.join(', ')}: no such suite or file. Suites: ${suites}`
        : '--capacity takes a number of cores, --patience a factor',
    );
    return 2;
  }
  const selected = selectJobs(jobs, positionals);
  const note = untimedText(untimed(selected));
  if (note !== '') console.log(`${note}\n`);
  if (values.forecast) return printForecast(selected);
  if (values['renew-pictures']) process.env['DROVER_RENEW_PICTURES'] = '1';
  const problem = setUpSystem(new Set(selected.map(({ suite }) => suite)));
  if (problem === null) return await runJobs(selected);
  console.error(problem);
  return 3;
}

process.exit(await main());
