// The few facts that the tree shows after a title.

import assert from 'node:assert/strict';
import { listRowFacts } from '../../../../webview/tree/row-template.ts';
import { taskView } from '../../../doubles/views.ts';

suite('tree: facts of a task', () => {
  test('its machine is shown in a fleet, while it is relevant', () => {
    const task = taskView({ id: 't', status: 'in_progress', phase: 'agent', agent: 'claude' });
    const text = (change: Partial<typeof task>): string =>
      listRowFacts({ ...task, ...change }, 1_700_000_000_000).join(' · ');
    assert.doesNotMatch(text({}), / on /);
    assert.match(text({ machine: 'atlas' }), / · on atlas · claude$/);
    assert.match(text({ machine: 'a\u202eb' }), / · on a\S+b · claude$/);
    assert.equal(text({ machine: 'atlas', status: 'completed' }), '');
  });
  test('an agent on a worker is shown while it runs', () => {
    const task = taskView({ id: 't', status: 'in_progress', agent: 'claude', runs_on: 'remote' });
    assert.match(listRowFacts(task, 1_700_000_000_000).join(' · '), / · claude · on a worker/);
    assert.doesNotMatch(listRowFacts({ ...task, status: 'failed' }, 0).join(' '), /worker/);
    assert.doesNotMatch(listRowFacts({ ...task, runs_on: 'local' }, 0).join(' '), /worker/);
  });
  test('a task that a person has taken over is distinguished from a paused one', () => {
    const task = taskView({ id: 't', status: 'paused' });
    assert.deepEqual(listRowFacts(task, 0), ['paused']);
    assert.deepEqual(listRowFacts({ ...task, phase: 'by_hand' }, 0), ['taken over']);
  });
});
