// Several candidates for one task: when a choice is possible, and which one a rule chooses.

import assert from 'node:assert/strict';
import {
  type Candidate,
  countDiffLines,
  type ChooseRule,
  judgeCandidates,
  candidateStanding,
} from '../../../server/core/plan/best-of.ts';
import { readTaskRules } from '../../../server/core/exchange/task-rules.ts';
import { taskStatuses } from '../../../server/core/plan/state.ts';

/** `a:green:12` = a candidate with 12 changed lines; `b:failed`, `c:ready`. */
function candidates(text: string): Candidate[] {
  return text.split(' ').map((word) => {
    const [id = '', stand = '', lines, cost = '0'] = word.split(':');
    const isGreen = stand === 'green';
    return {
      id,
      status: isGreen ? 'needs_review' : (stand as Candidate['status']),
      reviewKind: isGreen ? 'candidate' : stand === 'needs_review' ? 'no_changes' : null,
      isBlockedOutside: lines === 'outside',
      changedLines: lines === undefined || Number.isNaN(Number(lines)) ? null : Number(lines),
      costUsd: Number(cost),
    };
  });
}

suite('choosing a candidate', () => {
  const cases: readonly (readonly [ChooseRule, string, string])[] = [
    ['first-green', 'a:in_progress b:green:9 c:ready', 'choose b'],
    ['first-green', 'a:in_progress b:failed', 'wait'],
    ['first-green', 'a:failed b:needs_review', 'none'],
    ['smallest-change', 'a:green:9 b:in_progress', 'wait'],
    ['smallest-change', 'a:green:9 b:green:4 c:failed', 'choose b'],
    ['smallest-change', 'a:green:4:2 b:green:4:1', 'choose b'],
    ['smallest-change', 'a:green:4 b:green:4', 'choose a'],
    ['smallest-change', 'a:green b:green:100', 'choose b'],
    ['smallest-change', 'a:green:9 b:blocked:outside', 'choose a'],
    ['smallest-change', 'a:green:9 b:blocked', 'wait'],
    ['person', 'a:green:9 b:paused', 'wait'],
    ['person', 'a:green:9 b:green:4 c:conflict', 'ask a b'],
    ['person', 'a:green:9 b:failed', 'ask a'],
    ['person', 'a:failed b:failed', 'none'],
  ];
  for (const [rule, text, expected] of cases) {
    test(`${rule}, ${text}: ${expected}`, () => {
      const choice = judgeCandidates(rule, candidates(text));
      const words =
        choice.kind === 'choose'
          ? ['choose', choice.id]
          : choice.kind === 'ask'
            ? ['ask', ...choice.ids]
            : [choice.kind];
      assert.equal(words.join(' '), expected);
    });
  }

  const records: readonly (readonly [Readonly<Record<string, unknown>>, unknown])[] = [
    [{}, { fallback: null, bestOf: null, choose: null }],
    [
      { best_of: 3, choose: 'person', fallback: ['codex', { agent: 'claude', model: 'opus' }] },
      { fallback: 'codex,claude:opus', bestOf: 3, choose: 'person' },
    ],
    [{ fallback: 'none' }, { fallback: '', bestOf: null, choose: null }],
    [{ best_of: 9 }, ['`best_of` is not a whole number from 1 to 8']],
    [{ best_of: '3' }, ['`best_of` is not a whole number from 1 to 8']],
    [{ choose: 'chance' }, ['`choose` is none of first-green, smallest-change, person']],
  ];
  for (const [record, expected] of records) {
    test(`an import reads ${JSON.stringify(record)}`, () => {
      const faults: string[] = [];
      const { fallback, bestOf, choose } = readTaskRules({
        valueOf: (key) => record[key] ?? null,
        faults,
      });
      const read = { fallback, bestOf, choose };
      assert.deepEqual(faults.length > 0 ? faults : read, expected);
    });
  }

  test('every state has a place', () => {
    const stands = taskStatuses.map((status) =>
      candidateStanding(candidates(`a:${status}`)[0] as Candidate),
    );
    assert.deepEqual(new Set(stands), new Set(['open', 'ended']));
  });

  test('the size of a change is the number of added and removed lines', () => {
    const diff = [
      'diff --git a/x b/x',
      '--- a/x',
      '+++ b/x',
      '@@ -1,2 +1,2 @@',
      ' same',
      '-old',
      '+new',
      '+++ looks like a head',
      'diff --git a/y b/y',
      'new file mode 100644',
      '--- /dev/null',
      '+++ b/y',
      '@@ -0,0 +1 @@',
      '+one',
    ].join('\n');
    assert.equal(
      Object.values(countDiffLines(diff)).reduce((sum, n) => sum + n, 0),
      4,
    );
    assert.deepEqual(countDiffLines(''), { added: 0, removed: 0 });
  });
});
