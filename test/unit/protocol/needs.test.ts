// What waits for a person, by one answer for all views.

import assert from 'node:assert/strict';
import { needsOf } from '../../../server/protocol/needs.ts';
import type { EpicView, RunView, TaskView } from '../../../server/protocol/views.ts';
import { epicView, runView, snapshotOf, taskView } from '../../doubles/views.ts';

suite('what waits for a person', () => {
  const done = taskView({ id: 'a', epic_id: 'e', status: 'completed' });
  const cancelled = taskView({ id: 'b', epic_id: 'e', status: 'cancelled' });
  const failed = taskView({ id: 'b', epic_id: 'e', status: 'failed' });
  const lands = taskView({ id: 'b', epic_id: 'e', status: 'needs_review', phase: 'land' });
  const ended = runView({ active: false, epic_id: 'e', land: 'epic' });
  /** 99: its work is not on the target. */
  const cases: readonly (readonly [
    string,
    readonly TaskView[],
    RunView | null,
    Partial<EpicView>,
    readonly string[],
  ])[] = [
    ['its last task was merged by hand', [done], ended, { progress: 99 }, ['epic_unlanded']],
    ['its last task was canceled', [done, cancelled], ended, { progress: 99 }, ['epic_unlanded']],
    ['it never had a run', [done], null, { progress: 99 }, ['epic_unlanded']],
    ['its run lands it', [done], { ...ended, active: true }, { progress: 99 }, []],
    ['a run of all lands it', [done], runView(), { progress: 99 }, []],
    [
      'another epic has a run',
      [done],
      runView({ epic_id: 'x' }),
      { progress: 99 },
      ['epic_unlanded'],
    ],
    ['it has landed', [done], ended, { progress: 100, landing_state: 'landed' }, []],
    ['each task landed by itself', [done], ended, { progress: 100 }, []],
    ['a task failed', [done, failed], ended, { progress: 50 }, ['failed']],
    ['a task is about to land', [done, lands], ended, { progress: 50 }, []],
    ['nothing of it is wanted', [cancelled], ended, { progress: 0 }, []],
    [
      'it waits for its review',
      [done],
      ended,
      { progress: 99, landing_state: 'needs_review' },
      ['epic_review'],
    ],
  ];
  for (const [what, tasks, run, epic, kinds] of cases) {
    test(`an epic whose tasks are done: ${what}`, () => {
      const epics = [epicView({ id: 'e', ...epic }, tasks)];
      const needs = needsOf(snapshotOf(tasks, { epics, run }));
      assert.deepEqual(
        needs.map(({ kind }) => kind),
        kinds,
      );
    });
  }
});
