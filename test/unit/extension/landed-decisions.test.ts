// A person's decision is answered with its effect, once, even if another window decided.

import assert from 'node:assert/strict';
import { LandedDecisions } from '../../../extension/notices/landed-decisions.ts';
import type { TaskView } from '../../../server/protocol/views.ts';
import { epicView, runView, snapshotOf, taskView } from '../../doubles/views.ts';

const sha = '05d2583aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
const target = { branch: 'main', sha, pending: 0 };

function review(id: string): TaskView {
  return taskView({ id, title: `Task ${id}`, status: 'needs_review', review_kind: 'review' });
}

function landed(id: string, landed_on = 'main'): TaskView {
  return { ...review(id), status: 'completed', landed_on, landed_sha: sha };
}

suite('the effects of a decision', () => {
  test('the landing of an approved task is reported with its branch and commit', () => {
    const decisions = new LandedDecisions();
    assert.deepEqual(decisions.fresh(snapshotOf([review('a')])), []);
    const lands = { ...review('a'), phase: 'land' };
    assert.deepEqual(decisions.fresh(snapshotOf([lands])), []);
    const done = snapshotOf([landed('a')]);
    assert.deepEqual(decisions.fresh(done), ['Task a landed on main (05d2583)']);
    assert.deepEqual(decisions.fresh(done), []);
  });

  test('several landings at once are one sentence', () => {
    const decisions = new LandedDecisions();
    decisions.fresh(snapshotOf([review('a'), { ...review('b'), status: 'conflict' }]));
    assert.deepEqual(decisions.fresh(snapshotOf([landed('a'), landed('b')], { target })), [
      '2 tasks landed on main, 05d2583',
    ]);
  });

  test('an epic is named by its title, and the branch of an epic by its epic', () => {
    const decisions = new LandedDecisions();
    const epic = epicView({ id: 'e', title: 'Accounts', landing_state: 'needs_review' });
    const run = runView({ epic_id: 'e' });
    decisions.fresh(snapshotOf([review('a')], { epics: [epic], run }));
    const lands = { ...epic, landing_state: null };
    assert.deepEqual(
      decisions.fresh(snapshotOf([landed('a', 'drover/epic/e')], { epics: [lands], run })),
      ['Task a landed on the branch of “Accounts” (05d2583)'],
    );
    const done = { ...epic, landing_state: 'landed', landed_sha: sha };
    assert.deepEqual(
      decisions.fresh(snapshotOf([landed('a', 'drover/epic/e')], { epics: [done], run })),
      ['Accounts landed on main (05d2583)'],
    );
  });

  test('a task that was sent back, a plan and tasks that never waited are not reported', () => {
    const decisions = new LandedDecisions();
    const plan = { ...review('p'), review_kind: 'plan' };
    decisions.fresh(snapshotOf([review('a'), plan, taskView({ id: 'x', status: 'in_progress' })]));
    decisions.fresh(snapshotOf([taskView({ id: 'a', status: 'ready' })]));
    assert.deepEqual(decisions.fresh(snapshotOf([landed('a'), landed('p'), landed('x')])), []);
  });
});
