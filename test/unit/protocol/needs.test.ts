// Everything that waits for a person: one function answers for all views.

import assert from 'node:assert/strict';
import { summarise } from '../../../extension/notices/summary.ts';
import { countsByEpic } from '../../../server/core/plan/outcome.ts';
import { needsByEpic, listNeeds } from '../../../server/protocol/needs.ts';
import type { EpicView, HoldView, RunView, TaskView } from '../../../server/protocol/views.ts';
import { inboxItems } from '../../../webview/inbox/inbox-items.ts';
import { epicView, redBase, runView, snapshotOf, taskView } from '../../doubles/views.ts';

suite('items that wait for a person', () => {
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
      'it is approved, and its gate runs',
      [done],
      ended,
      { progress: 99, landing_state: 'landing' },
      [],
    ],
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
      const needs = listNeeds(snapshotOf(tasks, { epics, run }));
      assert.deepEqual(
        needs.map(({ kind }) => kind),
        kinds,
      );
    });
  }

  test('all tasks behind one failing branch count as one item, in the badge, the inbox and each epic', () => {
    const behind = (id: string, epic_id: string, on: string): TaskView =>
      taskView({
        id,
        epic_id,
        status: 'blocked',
        blocked_reason: 'red',
        block: { ...redBase, on },
      });
    const tasks = [behind('a', 'e', 'main'), behind('b', 'f', 'main'), behind('c', 'e', 'v2')];
    const board = snapshotOf(tasks, { epics: ['e', 'f'].map((id) => epicView({ id }, tasks)) });
    assert.deepEqual(
      inboxItems(board).map(({ title, tasks: about }) => [title, about]),
      [
        ['2 tasks behind main', ['a', 'b']],
        ['Title of c', ['c']],
      ],
    );
    assert.equal(summarise(board).needYou, 2);
    assert.deepEqual(
      [...needsByEpic(board)],
      [
        ['e', 2],
        ['f', 1],
      ],
    );
    assert.equal(countsByEpic(board).get('e')?.waits, 0);
  });

  test('worktrees that use all their space count as one item, and a hold that ends by itself counts as none', () => {
    const hold = (scope: string): HoldView => {
      return { scope, line: null, reason: `Held: ${scope}.`, since: 5, until: null };
    };
    const board = snapshotOf([], { holds: [hold('machine'), hold('worktrees')] });
    assert.deepEqual(
      inboxItems(board).map(({ text, actions }) => [text, actions.map(({ kind }) => kind)]),
      [['Held: worktrees.', ['worktrees']]],
    );
    assert.equal(summarise(board).needYou, 1);
  });

  test('approved work that is about to land is not waiting, in any view', () => {
    const lands = taskView({ id: 'a', epic_id: 'e', status: 'needs_review', phase: 'land' });
    const landing = { id: 'e', progress: 50, landing_state: 'landing' };
    const board = snapshotOf([lands], { epics: [epicView(landing, [lands])], run: ended });
    assert.deepEqual(inboxItems(board), []);
    assert.equal(summarise(board).needYou, 0);
    assert.equal(needsByEpic(board).size, 0);
    assert.equal(countsByEpic(board).get('e')?.waits, 0);
  });
});
