// The problems that a gate reported leave the Problems panel with their cause.

import assert from 'node:assert/strict';
import { problemCause } from '../../../extension/notices/problem-cause.ts';
import type { TaskView } from '../../../server/protocol/views.ts';
import { taskView } from '../../doubles/views.ts';

suite('problems of a gate', () => {
  const failed = taskView({ id: 'a', status: 'failed', attempts: 3 });
  const cases: readonly (readonly [string, TaskView | null, boolean])[] = [
    ['stay while the task is failed', { ...failed, updated_at: 1 }, true],
    ['are over once it is retried', { ...failed, status: 'ready', attempts: 0 }, false],
    ['are over once it has landed', { ...failed, status: 'completed' }, false],
    ['are over once it is canceled', { ...failed, status: 'cancelled' }, false],
    ['are over once it is removed', null, false],
  ];
  for (const [name, now, stays] of cases) {
    test(name, () => {
      assert.equal(problemCause(now) === problemCause(failed), stays);
    });
  }
});
