// The time from the last landing to the merge, by cause.

import assert from 'node:assert/strict';
import {
  pullTimeWords,
  type PullWait,
  waitsBetween,
} from '../../../../server/core/forge/pull-waits.ts';

const hourMs = 3_600_000;
const cases: readonly {
  readonly name: string;
  readonly toH: number;
  /** Hour → cause. */
  readonly marks: readonly (readonly [number, PullWait])[];
  readonly says: readonly string[];
}[] = [
  { name: 'without a mark, all of it is the gate', toH: 2, marks: [], says: ['gate 2'] },
  {
    name: 'each part belongs to the newest mark before it, and equal causes are added up',
    toH: 10,
    marks: [
      [1, 'checks'],
      [2, 'approval'],
      [6, 'checks'],
      [9, 'merge'],
    ],
    says: ['checks 4', 'approval 4', 'gate 1', 'merge 1'],
  },
  {
    name: 'marks before the last landing and after the merge do not count',
    toH: 3,
    marks: [
      [-5, 'approval'],
      [1, 'thread'],
      [4, 'merge'],
    ],
    says: ['thread 2', 'gate 1'],
  },
  { name: 'merged before the last landing, there is no wait', toH: 0, marks: [], says: [] },
];

suite('waits of a pull request', () => {
  for (const { name, toH, marks, says } of cases) {
    test(name, () => {
      const given = marks.map(([hour, cause]) => ({ atMs: hour * hourMs, cause }));
      const waits = waitsBetween(0, toH * hourMs, given);
      assert.deepEqual(
        waits.map(({ cause, ms }) => `${cause} ${ms / hourMs}`),
        says,
      );
    });
  }

  test('the sentence names the time and its causes', () => {
    const waits = waitsBetween(0, 3 * hourMs, [{ atMs: hourMs, cause: 'approval' }]);
    const pull = { number: 41, url: '', state: 'merged', ms: 3 * hourMs, waits };
    assert.equal(
      pullTimeWords(pull),
      'PR #41 was merged 3 h after the last landing: 2 h for approvals, 1 h for the gate and the push.',
    );
  });
});
