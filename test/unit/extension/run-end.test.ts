// The message at the end of a run, sent once.

import assert from 'node:assert/strict';
import { RunEnds, runEndNotice } from '../../../extension/notices/run-end.ts';
import { countOutcomes } from '../../../server/core/plan/outcome.ts';
import type { Report } from '../../../server/core/history/report.ts';
import type { StatusSnapshot } from '../../../server/protocol/views.ts';
import { smallRun } from '../../doubles/reports.ts';
import { epicView, redBase, runView, snapshotOf, taskView } from '../../doubles/views.ts';

const run = runView({ active: false, ended_at: 1_700_000_100, epic_id: 'syntax', land: 'task' });

function board(change: Partial<StatusSnapshot> = {}): StatusSnapshot {
  const tasks = [taskView({ id: 'check', epic_id: 'syntax', status: 'failed' })];
  const epics = [epicView({ id: 'syntax', title: 'A language' }, tasks)];
  return { ...snapshotOf(tasks, { epics, run }), ...change };
}

function green(): Report {
  const report = smallRun();
  return { ...report, left: [], counts: { ...report.counts, total: 2, failed: 0 } };
}

/** Its tasks are on the branch of their epic. */
function onEpic(): Report {
  const report = green();
  return { ...report, counts: { ...report.counts, landed: 0, done: 2 } };
}

suite('end of a run', () => {
  test('it lists the landings and their branch, the time and the cost', () => {
    const notice = runEndNotice(green(), board(), run);
    assert.equal(notice?.text, 'A language: 2 landed on main (sha-prin) · 23 min · $2.00');
    assert.equal(notice?.level, 'info');
    assert.deepEqual(
      notice?.buttons.map(({ title }) => title),
      ['Show Run'],
    );
  });

  test('it lists the failures, and offers to retry them', () => {
    const notice = runEndNotice(smallRun(), board(), run);
    assert.match(
      notice?.text ?? '',
      /^A language: 2 of 3 landed on main \(sha-prin\) · 1 failed · 23 min/,
    );
    assert.equal(notice?.level, 'warning');
    const retry = notice?.buttons.find(({ title }) => title === 'Retry Failed');
    assert.deepEqual(retry?.action, { kind: 'retryFailed', ids: ['check'] });
  });

  test('after a retry, it describes the whole epic and the part that this run had', () => {
    const tasks = ['parse', 'check'].map((id) =>
      taskView({ id, epic_id: 'syntax', status: 'completed', landed_on: 'main' }),
    );
    const report = { ...green(), counts: { ...green().counts, total: 1, landed: 1 } };
    const again = runEndNotice(report, board({ tasks }), run);
    assert.equal(
      again?.text,
      'A language: 2 landed on main (sha-prin) · this run: 1 task · 23 min · $2.00',
    );
    const failed = [...tasks, taskView({ id: 'print', epic_id: 'syntax', status: 'failed' })];
    const left = runEndNotice(report, board({ tasks: failed }), run);
    assert.match(
      left?.text ?? '',
      /^A language: 2 of 3 landed on main .* · 1 failed · this run: 1/u,
    );
    const retry = left?.buttons.find(({ title }) => title === 'Retry Failed');
    assert.deepEqual(retry?.action, { kind: 'retryFailed', ids: ['print'] });
  });

  test('tasks behind a failing branch count as one failure', () => {
    const tasks = ['a', 'b'].map((id) =>
      taskView({
        id,
        epic_id: 'syntax',
        status: 'blocked',
        blocked_reason: 'red',
        block: redBase,
      }),
    );
    const report = { ...green(), counts: countOutcomes(['blocked', 'blocked']) };
    const notice = runEndNotice(report, board({ tasks }), run);
    assert.match(
      notice?.text ?? '',
      /^A language: nothing landed · 2 open · main fails its gate ·/u,
    );
    assert.ok(notice?.buttons.some(({ title }) => title === 'Open Inbox'));
  });

  test('it names the agent that could not start, and says that no attempt was used', () => {
    const report = smallRun();
    const [task] = report.left;
    assert.ok(task !== undefined);
    const error = 'Claude Code is not signed in.';
    const retry = { task_id: task.id, attempt: 1, agent: 'claude', cause: 'agent_auth', error };
    const left = [{ ...task, outcome: 'queued' as const }];
    const notice = runEndNotice({ ...report, left, retries: [{ ...retry, ms: 1 }] }, board(), run);
    assert.match(notice?.text ?? '', / Claude Code is not signed in\. No attempt was used\.$/);
    assert.equal(notice?.level, 'warning');
    assert.equal(notice?.isBlocking, true);
  });

  test('an epic that waits for review has landed nothing on the target', () => {
    const byReview = { ...run, land: 'review' } as const;
    const epics = [epicView({ id: 'syntax', title: 'A language', landing_state: 'needs_review' })];
    const notice = runEndNotice(onEpic(), board({ epics, tasks: [] }), byReview);
    assert.match(notice?.text ?? '', /2 done \(not on main yet\) · the epic waits for your review/);
    assert.equal(notice?.isBlocking, true);
    assert.ok(notice?.buttons.some(({ title }) => title === 'Open Inbox'));
  });

  test('a landed epic is named with its own commit', () => {
    const byEpic = { ...run, land: 'epic' } as const;
    const epics = [
      epicView({ id: 'syntax', landing_state: 'landed', landed_sha: 'abcdef0123456789' }),
    ];
    const notice = runEndNotice(green(), board({ epics, tasks: [] }), byEpic);
    assert.match(notice?.text ?? '', /2 landed on main \(abcdef01\)/);
  });

  test('a run of single tasks is named by them', () => {
    const own = taskView({ id: 'print', title: 'Print the tree', status: 'completed' });
    const tasks = [...board().tasks, own];
    const notice = runEndNotice(green(), board({ tasks }), { ...run, tasks: ['print'] });
    assert.match(notice?.text ?? '', /^Print the tree: 2 landed on main \(sha-prin\) · 23 min/);
    const two = runEndNotice(smallRun(), board({ tasks }), { ...run, tasks: ['print', 'check'] });
    assert.match(two?.text ?? '', /^2 chosen tasks: .* · 1 failed · /);
  });

  test('a stopped run is not reported', () => {
    assert.equal(runEndNotice({ ...green(), state: 'stopped' }, board(), run), null);
  });

  test('an end is reported once, and only if the run was seen active', () => {
    const ends = new RunEnds();
    assert.equal(ends.ended(board()), null);
    assert.equal(ends.ended(board({ run: { ...run, active: true } })), null);
    assert.equal(ends.ended(board())?.id, run.id);
    assert.equal(ends.ended(board()), null);
  });
});
