// The history of runs and the attempts of a timeline, from recorded events.

import assert from 'node:assert/strict';
import { largeRun, reportOf, runsOf, smallRun } from '../../../doubles/reports.ts';
import { added, fails, lands, type Line } from './feed.ts';

const lines: readonly Line[] = [
  added(0, 'a'),
  added(0, 'b', ['a']),
  [100_000, 'run.started', null, { run: 'run-1', workers: 2, target: 'main' }],
  ...lands('a', [101_000, 102_000, 110_000, 112_000]),
  ...fails('b', [112_100, 113_000, 120_000]),
  [121_000, 'task.failed', 'b', { status: 'failed', error: 'exit code 1' }],
  [132_000, 'run.finished', null, { state: 'finished' }],
];

suite('history of runs', () => {
  test('each run lists its landings, its failures, its time and its cost', () => {
    const { runs, found } = runsOf(lines);
    assert.equal(found, 1);
    const [run] = runs;
    assert.equal(run?.epic_title, 'A language');
    assert.equal(run?.landed, 1);
    assert.equal(run?.attempts, 2);
    assert.equal(run?.usd, 1);
    assert.equal(run?.duration_ms, 32_000);
    assert.equal(run?.ended_at_ms, 132_000);
  });

  test('a run of single tasks shows how many tasks it was started for', () => {
    assert.equal(runsOf(lines).runs[0]?.tasks, null);
    const chosen = lines.map((line): Line => {
      return line[1] === 'run.started'
        ? [line[0], line[1], line[2], { ...line[3], tasks: 2 }]
        : line;
    });
    assert.equal(runsOf(chosen).runs[0]?.tasks, 2);
  });

  test('a run that has not ended counts up to now and has no end', () => {
    const { runs } = runsOf(lines.slice(0, 5));
    assert.equal(runs[0]?.state, 'active');
    assert.equal(runs[0]?.ended_at_ms, null);
  });

  test('a search finds every word in tasks, errors, agents and epics, and names the place', () => {
    assert.equal(runsOf(lines, 'title of A').runs[0]?.match, 'Title of a');
    assert.equal(runsOf(lines, 'CLAUDE').found, 1);
    assert.equal(runsOf(lines, 'sha-a').runs[0]?.match, 'sha-a');
    assert.equal(runsOf(lines, 'title nowhere').found, 0);
  });

  test('runs beyond the limit are counted, but not listed', () => {
    const { runs, found } = runsOf(lines, '', 0);
    assert.equal(runs.length, 0);
    assert.equal(found, 1);
  });
});

suite('attempts of a report', () => {
  test('each attempt has its parts, its agent and its outcome', () => {
    const attempts = reportOf(lines).attempts;
    assert.deepEqual(
      attempts.map(({ task_id, attempt, outcome, agent, model }) => [
        task_id,
        attempt,
        outcome,
        agent,
        model,
      ]),
      [
        ['a', 1, 'completed', 'claude', 'opus'],
        ['b', 1, 'ready', 'claude', 'opus'],
      ],
    );
    assert.deepEqual(
      attempts[0]?.parts.map(({ kind, started_at_ms: from, ended_at_ms: to }) => [kind, to - from]),
      [
        ['setup', 1_000],
        ['agent', 8_000],
        ['landing', 2_000],
      ],
    );
  });

  test('no attempt extends beyond the run', () => {
    const report = smallRun();
    const [window] = report.windows;
    assert.ok(window !== undefined && report.attempts.length === 4);
    for (const { started_at_ms: from, ended_at_ms: to } of report.attempts) {
      assert.ok(from >= window.started_at_ms && to <= window.ended_at_ms && from <= to);
    }
  });

  test('a thousand attempts are all listed', () => {
    assert.equal(largeRun(1_000).attempts.length, 1_000);
  });
});
