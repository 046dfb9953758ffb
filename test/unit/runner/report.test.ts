// The test runner's handling of failures: which are run again, which count as flaky, and the
// summary.

import assert from 'node:assert/strict';
import { blockedOutcome, type Ending, outcomeOf } from '../../runner/outcome.ts';
import { closingText, timesTables, untimedText } from '../../runner/report.ts';
import { judge, retriesFor } from '../../runner/retries.ts';
import { untimed } from '../../runner/times.ts';
import { jobNamed, outcomeNamed } from './jobs.ts';

const ending: Ending = {
  code: 0,
  output: '',
  report: null,
  durationMs: 1_000,
  cpuMs: 10,
  isLate: false,
};

suite('second runs of failed tests', () => {
  test('only tests that ran, failed, and may have failed because of other tests run again', () => {
    const jobs = [
      jobNamed('a'),
      jobNamed('b'),
      jobNamed('c', { isRetried: false }),
      jobNamed('d', { after: ['c'] }),
    ];
    const outcomes = [
      outcomeNamed('a', 1),
      outcomeNamed('b', 0),
      outcomeNamed('c', 1),
      blockedOutcome(jobNamed('d'), 'c'),
    ];
    assert.deepEqual(
      retriesFor(jobs, outcomes).map(({ name }) => name),
      ['a'],
    );
  });

  test('a test that passes alone counts as passed, and is listed with its first failure', () => {
    const first = [outcomeNamed('a', 1), outcomeNamed('b', 2), outcomeNamed('c', 0)];
    const judged = judge(first, [outcomeNamed('a', 0), outcomeNamed('b', 1)]);
    assert.deepEqual(
      judged.outcomes.map(({ job, failures }) => [job, failures.length]),
      [
        ['a', 0],
        ['b', 1],
        ['c', 0],
      ],
    );
    assert.deepEqual(judged.flaky, [first[0]]);
    const text = closingText(judged);
    assert.match(
      text,
      /^Flaky: failed beside other tests, passed alone\n\na suite: a: test 0\nbroken/,
    );
    assert.match(text, /\nWhat failed:\n\na suite: b: test 0\nbroken\n/);
    assert.match(text, /\n\n6 passed, 1 failed$/);
  });

  test('a note that a test wrote is printed at the end, even if all tests are green', () => {
    const output = '    ✔ one\nnote: seed 3 does not break it any more\n    ✔ two\n';
    const outcomes = [outcomeNamed('a', 0, { output })];
    const text = closingText({ outcomes, flaky: [] });
    assert.match(text, /^Notes:\n\na: seed 3 does not break it any more\n\n\d+ passed, 0 failed$/);
  });
});

suite('the outcome of a test job', () => {
  test('mocha: the outcome uses the numbers in its report', () => {
    const report = JSON.stringify({
      passed: 3,
      failed: 1,
      failures: [{ title: 'x', why: 'y' }],
      files: [],
    });
    const outcome = outcomeOf(jobNamed('a', { counting: 'mocha' }), { ...ending, code: 1, report });
    assert.deepEqual([outcome.passed, outcome.failures], [3, [{ title: 'x', why: 'y' }]]);
  });

  const titles: readonly [string, string, Partial<Ending>][] = [
    ['mocha', 'ended with exit code 7', { code: 7, output: 'broken' }],
    ['mocha', 'had no test to run', {}],
    ['mocha', 'was stopped after 1 minutes', { code: null, isLate: true }],
    ['exit-code', 'ended with exit code 2', { code: 2 }],
    ['last-line', 'had no test to run', { output: 'nothing' }],
    [
      'last-line',
      '1 of 1 failed',
      { code: 1, output: '-- x\n 1 failing\nhere\nx: 1 passed, 1 failed' },
    ],
  ];
  for (const [counting, title, more] of titles) {
    test(`${counting}: ${title}`, () => {
      const job = jobNamed('a', { counting: counting as 'mocha' });
      const { failures } = outcomeOf(job, { ...ending, ...more });
      assert.deepEqual(
        failures.map((failure) => failure.title),
        [title],
      );
    });
  }

  test('a report of success is ignored when the program exits with a failure', () => {
    const report = JSON.stringify({ passed: 3, failed: 0, failures: [], files: [] });
    const outcome = outcomeOf(jobNamed('a', { counting: 'mocha' }), { ...ending, code: 1, report });
    assert.equal(outcome.failures[0]?.title, 'ended with exit code 1');
  });
});

test('the tables list each suite and the slowest files', () => {
  const files = [
    { file: 'one.test.ts', durationMs: 700, cpuMs: 100 },
    { file: 'two.test.ts', durationMs: 300, cpuMs: 100 },
  ];
  const text = timesTables({
    outcomes: [outcomeNamed('a', 0, { files }), outcomeNamed('b', 1, { durationMs: 61_000 })],
    durationMs: 90_000,
    machineCpuMs: 120_000,
  });
  assert.match(text, /^a suite +2 +4 +1 +62\.0 s +1\.0 s$/m);
  assert.match(text, /^b +61\.0 s +0\.5 s\none\.test\.ts +0\.7 s/m);
  assert.match(text, /The whole run: 1\.5 minutes; the machine computed 2\.0 minutes\./);
});

suite('jobs without stored times', () => {
  test('they are listed with the remedy', () => {
    const jobs = [jobNamed('a'), jobNamed('b'), jobNamed('c')];
    const names = untimed(jobs, { b: [1, 1] });
    assert.deepEqual(names, ['a', 'c']);
    assert.match(untimedText(names), /of 2 jobs.*: a, c\. A whole run with --keep-times/);
    assert.equal(untimedText([]), '');
  });
});
