// The text that an issue gets about its work.

import assert from 'node:assert/strict';
import {
  type IssueWork,
  reportMarker,
  reportOf,
} from '../../../../server/core/forge/issue-report.ts';
import { taskStatuses } from '../../../../server/core/plan/state.ts';

type Task = Extract<IssueWork, { readonly kind: 'task' }>;
const task: Task = {
  kind: 'task',
  id: 'gh-2',
  status: 'ready',
  attempts: 1,
  landed: null,
  pull: null,
};

suite('reports to issues', () => {
  const cases: readonly {
    readonly name: string;
    readonly work: IssueWork;
    readonly says: string | null;
    readonly isOver?: boolean;
  }[] = [
    { name: 'a plan', work: { ...task, attempts: 0 }, says: null },
    {
      name: 'a cancelled plan',
      work: { ...task, status: 'cancelled', attempts: 0 },
      says: null,
    },
    { name: 'an attempt', work: { ...task, status: 'in_progress' }, says: 'An agent works on it.' },
    {
      name: 'a pause',
      work: { ...task, status: 'paused' },
      says: 'It waits for its next attempt.',
    },
    {
      name: 'a failure',
      work: { ...task, status: 'failed' },
      says: 'The work has stopped, and a person must check it.',
    },
    {
      name: 'work that waits in a pull request',
      work: { ...task, status: 'completed', pull: { number: 41, state: 'open' } },
      says: 'The work is done. It waits for #41 to be merged.',
    },
    {
      name: 'merged work',
      work: {
        ...task,
        status: 'completed',
        pull: { number: 41, state: 'merged' },
        landed: { sha: 'abc', branch: 'main' },
      },
      says: 'Merged by #41.',
      isOver: true,
    },
    {
      name: 'landed work',
      work: { ...task, status: 'completed', landed: { sha: 'abc', branch: 'main' } },
      says: 'Landed on `main` as abc.',
      isOver: true,
    },
    {
      name: 'an epic that has begun',
      work: {
        kind: 'epic',
        id: 'gh-1',
        done: 1,
        total: 3,
        isBegun: true,
        landed: null,
        pull: null,
      },
      says: '1 of 3 tasks are done.',
    },
  ];
  for (const { name, work, says, isOver = false } of cases) {
    test(`${name}: ${says ?? 'nothing'}`, () => {
      const report = reportOf(work);
      if (says === null) return assert.equal(report, null);
      const text = `**Drover** · \`${work.id}\`\n\n${says}\n\n${reportMarker}`;
      assert.deepEqual(report, { text, isOver });
    });
  }

  test('every status has a text once an attempt was made, and only landed work is over', () => {
    for (const status of taskStatuses) {
      assert.equal(reportOf({ ...task, status })?.isOver, false, status);
    }
  });
});
