// The little that the tree says behind a title.

import assert from 'node:assert/strict';
import { factsOf } from '../../../../webview/tree/row-template.ts';
import { taskView } from '../../../doubles/views.ts';

suite('tree: facts of a task', () => {
  test('its machine is told in a fleet, while it is of interest', () => {
    const task = taskView({ id: 't', status: 'in_progress', phase: 'agent', agent: 'claude' });
    const text = (change: Partial<typeof task>): string =>
      factsOf({ ...task, ...change }, 1_700_000_000_000).join(' · ');
    assert.doesNotMatch(text({}), / on /);
    assert.match(text({ machine: 'atlas' }), / · claude · on atlas$/);
    assert.match(text({ machine: 'a\u202eb' }), / · on a\S+b$/);
    assert.equal(text({ machine: 'atlas', status: 'completed' }), '');
  });
});
