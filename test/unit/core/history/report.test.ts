// Reports from recorded events: each figure was calculated by hand.

import assert from 'node:assert/strict';
import { makeReport, type Report } from '../../../../server/core/history/report.ts';
import { StoryTeller } from '../../../../server/core/history/stories.ts';
import { buildWindows } from '../../../../server/core/history/windows.ts';
import { boardOfStories } from '../../../doubles/reports.ts';
import { added, fails, feed, lands, type Line } from './feed.ts';

function reportOf(lines: readonly Line[], nowMs = 1_000_000): Report {
  const stories = new StoryTeller();
  for (const event of feed(lines)) stories.take(event);
  const usage = [...stories.tasks.values()].flatMap((task) =>
    task.attempts.map(({ number }) => ({
      task_id: task.id,
      number,
      agent: 'claude',
      model: number === 1 ? 'opus' : null,
      input_tokens: 100,
      output_tokens: 10,
      cost_usd: 0.5,
    })),
  );
  const scope = {
    kind: 'run',
    id: 'run-1',
    title: 'all tasks',
    state: stories.runs.get('run-1')?.state ?? 'active',
    windows: buildWindows(stories.runs.values(), nowMs),
    taskIds: [...stories.tasks.keys()],
  } as const;
  return makeReport(stories, scope, usage, boardOfStories(stories));
}

const start: Line = [100_000, 'run.started', null, { run: 'run-1', workers: 2, target: 'main' }];
const end = (atMs: number): Line => [atMs, 'run.finished', null, { state: 'finished' }];

/** `a`, then `b` that waits for it and fails once; both were added long before the run. */
const chain: readonly Line[] = [
  added(0, 'a'),
  added(0, 'b', ['a']),
  start,
  ...lands('a', [101_000, 102_000, 110_000, 112_000]),
  [112_000, 'task.unblocked', 'b', { status: 'ready', by: 'a' }],
  ...fails('b', [112_100, 113_000, 120_000]),
  ...lands('b', [125_000, 126_000, 130_000, 131_000], 2),
  end(132_000),
];

suite('report', () => {
  test('waits count from the start of the run, not from the day the tasks were added', () => {
    const report = reportOf(chain);
    assert.equal(report.duration_ms, 32_000);
    assert.equal(report.time.queued, 1_000 + 100);
    assert.equal(report.time.blocked, 12_000);
    assert.equal(report.time.retry, 5_000);
    assert.equal(report.time.agent, 8_000 + 7_000 + 4_000);
    assert.equal(report.time.landing, 2_000 + 1_000);
    assert.equal(report.time.setup, 1_000 + 900 + 1_000);
    const [longest] = report.waits;
    assert.deepEqual(longest, {
      kind: 'blocked',
      task_id: 'b',
      on: ['a'],
      started_at_ms: 100_000,
      ms: 12_000,
    });
  });

  test('the critical path goes through the blocker', () => {
    const path = reportOf(chain).critical_path;
    assert.deepEqual(
      path.map((step) => [step.task_id, step.after?.kind ?? null, step.after?.task_id ?? null]),
      [
        ['a', null, null],
        ['b', 'blocker', 'a'],
      ],
    );
    assert.deepEqual(path[1]?.time, { setup: 1_900, agent: 11_000, retry: 5_000, landing: 1_000 });
  });

  test('the critical path goes through the task that freed the slot', () => {
    const report = reportOf([
      added(0, 'a'),
      added(0, 'b'),
      start,
      ...lands('a', [100_000, 100_100, 110_000, 112_000]),
      ...lands('b', [112_010, 112_100, 120_000, 121_000]),
      end(122_000),
    ]);
    assert.deepEqual(report.critical_path[1]?.after, { kind: 'slot', task_id: 'a' });
  });

  test('an immediate claim is not a wait for a slot, however long ago the task was added', () => {
    const report = reportOf([
      added(0, 'a'),
      added(0, 'b'),
      start,
      ...lands('a', [100_000, 100_010, 100_020, 100_100]),
      ...lands('b', [100_200, 100_300, 120_000, 121_000]),
      end(122_000),
    ]);
    assert.deepEqual(
      report.critical_path.map((step) => step.task_id),
      ['b'],
    );
  });

  test('retries name their cause, and money is counted by model', () => {
    const report = reportOf(chain);
    assert.deepEqual(report.retries, [
      {
        task_id: 'b',
        attempt: 1,
        agent: 'claude',
        cause: 'agent_failed',
        error: 'exit code 1',
        ms: 7_900,
      },
    ]);
    assert.equal(report.cost.usd, 1.5);
    assert.deepEqual(
      report.cost.by_model.map(({ model, attempts, usd }) => [model, attempts, usd]),
      [
        ['opus', 2, 1],
        [null, 1, 0.5],
      ],
    );
    assert.deepEqual(
      report.landed.map(({ id, sha }) => [id, sha]),
      [
        ['a', 'sha-a'],
        ['b', 'sha-b'],
      ],
    );
    assert.deepEqual(report.left, []);
  });

  test('the hours between a stop and the resume belong to no wait', () => {
    const report = reportOf([
      added(0, 'a'),
      start,
      [110_000, 'run.stopped', null],
      [900_000, 'run.resumed', null],
      ...lands('a', [901_000, 901_100, 905_000, 906_000]),
      end(907_000),
    ]);
    assert.equal(report.duration_ms, 17_000);
    assert.equal(report.time.queued, 11_000);
  });

  const docs = { name: 'docs', paths: ['docs'] };

  test('concurrent gates count as one period in which a gate ran, and unneeded gates are summed', () => {
    const named = { command: 'make', exit_code: 0, flaky: false, task_ids: ['a'] };
    const a = lands('a', [101_000, 102_000, 103_000, 120_000]);
    const report = reportOf([
      added(0, 'a'),
      start,
      ...a.slice(0, -1),
      [110_000, 'gate.passed', null, { ...named, duration_ms: 6_000 }],
      [112_000, 'gate.passed', null, { ...named, duration_ms: 6_000, task_ids: ['a', 'b'] }],
      [113_000, 'gate.unused', null, { duration_ms: 700, task_ids: ['a', 'b'] }],
      [114_000, 'gate.unused', null, { duration_ms: 50, task_ids: ['b'] }],
      [115_000, 'gate.skipped', null, { task_ids: ['a'], stages: [docs] }],
      [116_000, 'gate.skipped', null, { task_ids: ['b'], stages: [docs] }],
      ...a.slice(-1),
      end(121_000),
    ]);
    assert.equal(report.gate.ms, 12_000);
    assert.equal(report.gate.unused_ms, 700);
    assert.deepEqual(report.gate.skipped, [{ stage: 'docs', paths: ['docs'], times: 1 }]);
    assert.equal(report.landing.gate_share, 8_000 / report.duration_ms);
  });

  test('an early gate of other tasks does not count for a task that lands after it', () => {
    const named = { command: 'make', exit_code: 0, flaky: false, duration_ms: 500 };
    const a = lands('a', [101_000, 102_000, 110_000, 112_000]);
    const report = reportOf([
      added(0, 'a'),
      start,
      ...a.slice(0, -1),
      [111_000, 'gate.passed', null, { ...named, task_ids: ['a'] }],
      [111_900, 'gate.failed', null, { ...named, task_ids: ['b'] }],
      ...a.slice(-1),
      end(113_000),
    ]);
    assert.deepEqual([report.gate.runs, report.gate.failed], [1, 0]);
  });

  test('gates are counted, and a gate whose events name no tasks belongs to the task that lands after it', () => {
    const gate = { duration_ms: 500, command: 'make', exit_code: 0, flaky: true };
    const a = lands('a', [101_000, 102_000, 110_000, 112_000]);
    const report = reportOf([
      added(0, 'a'),
      start,
      ...a.slice(0, -1),
      [111_000, 'gate.failed', null, { ...gate, exit_code: 1, flaky: false }],
      [111_900, 'gate.passed', null, gate],
      ...a.slice(-1),
      end(113_000),
    ]);
    const { unused_ms: unused, ...counted } = report.gate;
    const expected = { runs: 2, passed: 1, failed: 1, flaky: 1, ms: 1_000, skipped: [] };
    assert.deepEqual(counted, expected);
    assert.equal(unused, 0);
    const { gate_share: share, ...landing } = report.landing;
    assert.equal(share, 1_000 / report.duration_ms);
    assert.equal(landing.count, 1);
    assert.equal(landing.longest_ms, report.time.landing);
    assert.equal(landing.average_ms, landing.longest_ms);
  });

  test('waits for people are counted: reviews, questions and pauses', () => {
    const report = reportOf([
      added(0, 'a'),
      start,
      [100_000, 'task.claimed', 'a', { status: 'claimed', attempt: 1 }],
      [100_000, 'task.started', 'a', { status: 'in_progress', attempt: 1 }],
      [100_000, 'worktree.ready', 'a'],
      [101_000, 'question.asked', 'a', { text: 'Which one?' }],
      [104_000, 'question.answered', 'a'],
      [105_000, 'task.needs_review', 'a', { status: 'needs_review', kind: 'approval' }],
      [110_000, 'task.completed', 'a', { status: 'completed' }],
      end(110_000),
    ]);
    assert.deepEqual(
      [report.time.question, report.time.review, report.time.agent],
      [3_000, 5_000, 5_000],
    );
  });

  test('an active run ends now', () => {
    const report = reportOf([added(0, 'a'), start], 130_000);
    assert.deepEqual(
      [report.state, report.duration_ms, report.time.queued],
      ['active', 30_000, 30_000],
    );
    assert.equal(report.left[0]?.id, 'a');
  });
});
