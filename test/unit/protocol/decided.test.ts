// The run that a person's decision starts if no active run carries it out.

import assert from 'node:assert/strict';
import { changedBy, runAfterDecision, tasksToReread } from '../../../server/protocol/decided.ts';
import type { StatusSnapshot, TaskView } from '../../../server/protocol/views.ts';
import { epicView, questionView, runView, snapshotOf, taskView } from '../../doubles/views.ts';

suite('the run after a decision', () => {
  test('a follow-up after a run of single tasks runs alone, before the board has it', () => {
    const tasks = [
      taskView({ id: 'done', status: 'completed' }),
      taskView({ id: 'never asked for' }),
    ];
    const run = runView({ active: false, tasks: ['done'] });
    const { epic, ids } = changedBy(snapshotOf(tasks, { run }), 'done');
    const again = tasksToReread(snapshotOf(tasks, { run }), { epic, ids: [...ids, 'new'] });
    assert.deepEqual(again, ['new']);
  });

  const whole = epicView({ id: 'e', branch: 'drover/epic/e' });
  const ended = runView({ active: false, epic_id: 'e', land: 'epic' });
  const task = (more: Partial<TaskView>): TaskView => taskView({ id: 't', epic_id: 'e', ...more });
  const board = (tasks: readonly TaskView[], more: Partial<StatusSnapshot> = {}): StatusSnapshot =>
    snapshotOf(tasks, { epics: [whole], run: ended, ...more });
  const review = task({ status: 'needs_review', review_kind: 'approval' });
  const about = { epic: 'e', ids: ['t'] };

  const starts: readonly (readonly [string, string, StatusSnapshot])[] = [
    ['a review approved in an epic that lands as a whole', 't', board([review])],
    ['a conflict merged by hand', 't', board([task({ status: 'conflict' })])],
    ['a plan approved', 't', board([task({ status: 'needs_review', review_kind: 'plan' })])],
    [
      'a candidate chosen by its question',
      'q',
      board([task({ status: 'blocked' })], {
        questions: [questionView({ id: 'q', task_id: 't' })],
      }),
    ],
    [
      'a candidate approved',
      'c',
      board([
        task({ status: 'blocked' }),
        task({ id: 'c', candidate_of: 't', status: 'needs_review' }),
      ]),
    ],
    [
      'a review that another task waits for, where each task lands by itself',
      't',
      board([review, task({ id: 'next', status: 'blocked', waits_for: ['t'] })], {
        epics: [epicView({ id: 'e', branch: 'main' })],
      }),
    ],
    [
      'a task of a run of single tasks, although others of the epic are ready',
      't',
      board(
        [review, task({ id: 'next', status: 'blocked', waits_for: ['t'] }), task({ id: 'other' })],
        { run: { ...ended, tasks: ['t', 'next'] } },
      ),
    ],
  ];
  for (const [what, id, before] of starts) {
    test(`${what} continues in a run like the last one`, () => {
      assert.deepEqual(runAfterDecision(before, id), about);
    });
  }

  const startsNone: readonly (readonly [string, string, StatusSnapshot])[] = [
    ['without any run before', 't', board([review], { run: null })],
    ['where a new task would start unasked', 't', board([review, task({ id: 'new' })])],
    [
      'that nothing waits for, and which lands by itself',
      't',
      board([review], { epics: [epicView({ id: 'e', branch: 'main' })] }),
    ],
    ['on an epic, which lands without a run', 'e', board([review])],
  ];
  for (const [what, id, before] of startsNone) {
    test(`a decision ${what} starts no run`, () => {
      assert.equal(runAfterDecision(before, id), null);
    });
  }

  test('the subject of a decision is a task with its epic, an epic, or unknown', () => {
    const part = task({ id: 't.1', parent_id: 't' });
    assert.deepEqual(changedBy(board([review, part]), 't.1'), about);
    assert.deepEqual(changedBy(board([review]), 'e'), { epic: 'e', ids: [] });
    assert.deepEqual(changedBy(board([review]), 'gone'), { epic: null, ids: [] });
  });
});
