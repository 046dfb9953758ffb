// How an undo has ended, according to the events of its own workflow.

import assert from 'node:assert/strict';
import { undoEnd } from '../../../server/protocol/undo-end.ts';
import type { EventView } from '../../../server/protocol/views.ts';

const event = (type: string, data: Readonly<Record<string, unknown>>): EventView => ({
  seq: 1,
  id: 'e',
  type,
  timestamp: 0,
  at_ms: 0,
  task_id: null,
  epic_id: null,
  run_id: null,
  data,
});

suite('end of an undo', () => {
  test('it is the end of its own workflow, with its commit or its reason', () => {
    const others = [
      event('landing.undone', { workflow: 'other', sha: 'x' }),
      event('gate.passed', {}),
    ];
    assert.equal(undoEnd(others, 'w'), null);
    const done = [...others, event('epic.undone', { workflow: 'w', sha: 'abc' })];
    assert.deepEqual(undoEnd(done, 'w'), { kind: 'undone', sha: 'abc' });
    const sent = [...others, event('epic.undo_sent', { workflow: 'w' })];
    assert.deepEqual(undoEnd(sent, 'w'), { kind: 'sent' });
    const failed = [event('landing.undo_failed', { workflow: 'w', reason: 'The gate is red.' })];
    assert.deepEqual(undoEnd(failed, 'w'), { kind: 'failed', reason: 'The gate is red.' });
  });
});
