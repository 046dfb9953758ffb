// After a decision on the command line: which run carries it out if no active run does.

import assert from 'node:assert/strict';
import { nextRunLine } from '../../../server/cli/render/next-run.ts';
import type { StatusSnapshot, TaskView } from '../../../server/protocol/views.ts';
import { epicView, runView, snapshotOf, taskView } from '../../doubles/views.ts';

suite('the run that a decision needs, on the command line', () => {
  const task = (more: Partial<TaskView> = {}): TaskView =>
    taskView({ id: 't', epic_id: 'e', ...more });
  const done = task({ status: 'completed' });
  const board = (
    tasks: readonly TaskView[],
    more: Partial<StatusSnapshot> = {},
  ): StatusSnapshot => {
    const epics = [epicView({ id: 'e', branch: 'drover/epic/e', progress: 99 }, tasks)];
    const run = runView({ active: false, epic_id: 'e', land: 'epic' });
    return snapshotOf(tasks, { epics, run, ...more });
  };
  const lands = '"drover run --epic e" lands the epic';
  const cases: readonly (readonly [string, StatusSnapshot, string | null])[] = [
    ['the last task is done', board([done]), `No run is active: ${lands} e.`],
    [
      'the last task is canceled',
      board([task({ status: 'cancelled' }), task({ id: 'x', status: 'completed' })]),
      `No run is active: ${lands} e.`,
    ],
    [
      'the last task is about to land',
      board([task({ status: 'needs_review', phase: 'land' })]),
      `No run is active: once t has landed, ${lands}.`,
    ],
    [
      'the epic is to be reviewed',
      board([done], { run: runView({ active: false, epic_id: 'e', land: 'review' }) }),
      'No run is active: "drover run --epic e --land review" lands the epic e.',
    ],
    ['the task is ready', board([task()]), 'No run is active: "drover run" starts t.'],
    [
      'another task is ready by it',
      board([done, task({ id: 'x', blocked_by: ['t'] })]),
      'No run is active: "drover run" starts x.',
    ],
    ['a run is active', board([done], { run: runView() }), null],
    ['another task needs a person', board([done, task({ id: 'x', status: 'failed' })]), null],
  ];
  for (const [what, given, line] of cases) {
    test(`${what}: ${line === null ? 'no command is printed' : 'its command is printed'}`, () => {
      assert.equal(nextRunLine(given, 't'), line);
    });
  }
});
