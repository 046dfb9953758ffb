// How a run is judged by all tasks in its scope.

import assert from 'node:assert/strict';
import type { TaskStatus } from '../../../server/core/plan/state.ts';
import { judgeRun } from '../../../server/cli/exit-codes.ts';

function check(
  statuses: readonly TaskStatus[],
  expected: number,
  rest: { unlandedEpic?: boolean; interrupted?: boolean } = {},
): void {
  test(`${statuses.join(', ') || 'nothing'} ${JSON.stringify(rest)} → ${expected}`, () => {
    const tasks = statuses.map((status) => ({ status }));
    assert.equal(judgeRun({ tasks, unlandedEpic: false, interrupted: false, ...rest }), expected);
  });
}

suite('exit code of a run', () => {
  check([], 0);
  check(['completed'], 0);
  check(['completed', 'cancelled'], 0);
  check(['cancelled'], 0);
  check(['failed'], 1);
  check(['completed', 'failed', 'blocked'], 1);
  check(['needs_review', 'failed'], 1);
  for (const left of [
    'ready',
    'claimed',
    'in_progress',
    'blocked',
    'paused',
    'waiting',
    'needs_review',
    'conflict',
  ] as const) {
    check([left], 2);
    check(['completed', left, 'cancelled'], 2);
    check([left, 'failed'], 1);
  }
  check(['completed'], 2, { unlandedEpic: true });
  check(['completed', 'failed'], 1, { unlandedEpic: true });
  check(['completed'], 130, { interrupted: true });
  check(['failed'], 130, { interrupted: true });
});
