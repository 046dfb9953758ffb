import assert from 'node:assert/strict';
import { failure } from '../../../server/core/failure.ts';
import { expectsCommit, hasGate } from '../../../server/core/task.ts';
import {
  firstLine,
  judge,
  readVerdictAnswer,
  type VerdictFacts,
} from '../../../server/core/verdict.ts';

const facts: VerdictFacts = {
  agent: { kind: 'done', summary: 'Did it.\nMore.' },
  changed: true,
  held: [],
  gate: 'green',
  task: { type: 'feature', testMode: 'strict', testScope: 'diff' },
  attempts: 0,
  maxAttempts: 3,
};

suite('verdict', () => {
  function check(change: Partial<VerdictFacts>, verdict: string, next: string): void {
    const judgement = judge({ ...facts, ...change });
    assert.deepEqual([judgement.verdict, judgement.next.kind], [verdict, next]);
  }

  test('facts decide what follows', () => {
    const research = { ...facts.task, type: 'research' };
    const ended = (kind: Parameters<typeof failure>[0]): Partial<VerdictFacts> => ({
      agent: { kind: 'failed', failure: failure(kind, 'x') },
    });
    check({}, 'pass', 'land');
    check({ gate: 'not_run' }, 'unknown', 'gate');
    check({ gate: 'none' }, 'pass', 'land');
    check({ gate: 'not_run', task: { ...facts.task, testMode: 'disabled' } }, 'pass', 'land');
    check({ gate: 'red' }, 'fail', 'retry');
    check({ gate: 'red', attempts: 2 }, 'fail', 'fail');
    check({ changed: false }, 'unknown', 'needs_review');
    check({ changed: false, task: research }, 'pass', 'complete_without_commit');
    check({ changed: true, task: research }, 'pass', 'land');
    check({ held: ['.env'] }, 'unknown', 'needs_review');
    check({ held: ['.env'], changed: false, task: research }, 'unknown', 'needs_review');
    check({ agent: { kind: 'stopped' } }, 'unknown', 'give_back');
    check({ agent: { kind: 'limited', untilMs: 5, message: 'quota' } }, 'unknown', 'wait');
    check({ agent: { kind: 'done', summary: '', blockedReason: 'no key' } }, 'blocked', 'blocked');
    check({ agent: { kind: 'done', summary: '', blockedReason: '  ' } }, 'pass', 'land');
    check(ended('agent_failed'), 'fail', 'retry');
    check({ ...ended('agent_failed'), attempts: 2 }, 'fail', 'fail');
    check({ ...ended('agent_failed'), maxAttempts: 1 }, 'fail', 'fail');
    check(ended('agent_auth'), 'fail', 'fail');
    check(ended('agent_missing'), 'fail', 'fail');
    check(ended('setup_failed'), 'blocked', 'blocked');
    check({ ...ended('interrupted'), attempts: 2 }, 'unknown', 'give_back');
  });

  test('words in the text decide nothing', () => {
    for (const summary of [
      'blocked by the missing key',
      'FAILED with an exception',
      'rate limit 429',
    ]) {
      check({ agent: { kind: 'done', summary } }, 'pass', 'land');
    }
  });

  test('reasons are one short line', () => {
    assert.equal(judge(facts).reason, 'Did it.');
    assert.equal(firstLine('\n \n a \nb'), 'a');
    assert.equal(firstLine('x'.repeat(300)).length, 200);
    assert.match(judge({ ...facts, held: ['a', 'b', 'c', 'd', 'e', 'f'] }).reason, /and 1 more$/);
  });

  test('a structured answer is checked', () => {
    const cases: readonly [unknown, string, string | null][] = [
      [{ verdict: 'pass', verdict_reason: 'ok' }, 'pass', 'ok'],
      [{ verdict: 'PASS' }, 'unknown', null],
      [{ verdict: 'blocked', verdict_reason: 5 }, 'blocked', null],
      ['pass', 'unknown', null],
      [null, 'unknown', null],
    ];
    for (const [answer, verdict, reason] of cases) {
      assert.deepEqual(readVerdictAnswer(answer), { verdict, reason });
    }
  });

  test('what a task expects', () => {
    assert.equal(expectsCommit({ type: 'research' }), false);
    assert.equal(expectsCommit({ type: 'docs' }), true);
    const cases = [
      ['strict', 'diff', true, true],
      ['strict', 'diff', false, false],
      ['lenient', 'diff', true, true],
      ['strict', 'all', false, true],
      ['strict', 'skip', true, false],
      ['disabled', 'all', true, false],
    ] as const;
    for (const [testMode, testScope, changed, wanted] of cases) {
      assert.equal(hasGate({ testMode, testScope }, changed), wanted);
    }
  });
});
