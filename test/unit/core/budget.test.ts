import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  addSpent,
  budgetQuestion,
  budgetStopSentence,
  type BudgetLimits,
  judgeBudget,
  nothingSpent,
  type Spent,
} from '../../../server/core/work/budget.ts';
import { estimateUsd } from '../../../server/core/work/prices.ts';
import { SpendingCounter } from '../../../server/core/work/spending.ts';
import { noLimits } from '../../doubles/neutral-settings.ts';

const amount = fc.nat(1_000);
const spent = fc.record({ tokens: amount, usd: amount, turns: amount, workedMs: amount });
const limit = fc.option(fc.integer({ min: 1, max: 1_000 }), { nil: null });
const limits = fc.record({ tokens: limit, usd: limit, turns: limit, workedMs: limit });
const kinds = ['tokens', 'usd', 'turns', 'workedMs'] as const;

suite('budget', () => {
  const cases: readonly [string, BudgetLimits, Spent, string][] = [
    ['no limit', noLimits, { tokens: 1e9, usd: 1e9, turns: 1e9, workedMs: 1e9 }, 'ok'],
    ['below', { ...noLimits, tokens: 100 }, { ...nothingSpent, tokens: 79 }, 'ok'],
    ['at the question', { ...noLimits, tokens: 100 }, { ...nothingSpent, tokens: 80 }, 'ask'],
    ['at the limit', { ...noLimits, turns: 10 }, { ...nothingSpent, turns: 10 }, 'stop'],
    ['over it', { ...noLimits, usd: 0.5 }, { ...nothingSpent, usd: 0.7 }, 'stop'],
    ['time', { ...noLimits, workedMs: 1_000 }, { ...nothingSpent, workedMs: 900 }, 'ask'],
    [
      'a stop counts before a question',
      { ...noLimits, tokens: 100, turns: 10 },
      { ...nothingSpent, tokens: 90, turns: 10 },
      'stop',
    ],
  ];
  for (const [name, given, used, wanted] of cases) {
    test(name, () => assert.equal(judgeBudget('task', given, used, 0.8).kind, wanted));
  }

  test('a budget stops exactly when one kind is used up, asks only before that, and never goes back', () => {
    const askAt = fc.double({ min: 0.01, max: 1, noNaN: true });
    const order = ['ok', 'ask', 'stop'];
    fc.assert(
      fc.property(limits, spent, spent, askAt, (given, used, more, at) => {
        const verdict = judgeBudget('epic', given, used, at);
        const isOver = kinds.some((kind) => used[kind] >= (given[kind] ?? Infinity));
        assert.equal(verdict.kind === 'stop', isOver);
        if (verdict.kind === 'ask') assert.ok(verdict.found.used >= verdict.found.limit * at);
        const later = judgeBudget('epic', given, addSpent(used, more), at);
        assert.ok(order.indexOf(later.kind) >= order.indexOf(verdict.kind));
      }),
    );
  });

  test('the message names the exhausted budget and the remedy', () => {
    const found = { scope: 'task', kind: 'tokens', used: 81_234, limit: 100_000 } as const;
    assert.equal(
      budgetQuestion(found, 't1'),
      'The budget of t1 is 81 % used: 81,234 tokens of 100,000 tokens. Continue up to the limit, or stop here?',
    );
    assert.equal(
      budgetStopSentence({ ...found, used: 100_001 }, 't1', false),
      'The budget of t1 is used up: 100,001 tokens of 100,000 tokens; its work so far is kept; raise [budget] task_tokens in .drover.toml, then "drover retry t1"',
    );
    const day = { scope: 'day', kind: 'usd', used: 5.004, limit: 5 } as const;
    assert.match(
      budgetStopSentence(day, '2026-05-01', false),
      /^The budget of the day is used up: \$5\.00 of \$5\.00; .*day_usd/,
    );
    const epic = { scope: 'epic', kind: 'workedMs', used: 60_000, limit: 60_000 } as const;
    assert.match(
      budgetStopSentence(epic, 'e1', true),
      /^The budget of epic e1 was at 1 min of work .* a person stopped it; .*epic_time/,
    );
  });
});

suite("counting an agent's usage", () => {
  const totals = (inputTokens: number, outputTokens: number, costUsd: number | null = null) => ({
    inputTokens,
    outputTokens,
    cacheReadTokens: 0,
    costUsd,
  });

  test('differences of running totals add up to the totals in any order', () => {
    const steps = fc.array(fc.tuple(fc.nat(1_000), fc.nat(1_000), fc.boolean()), { minLength: 1 });
    fc.assert(
      fc.property(steps, (list) => {
        const counter = new SpendingCounter(nothingSpent);
        let sum = nothingSpent;
        let [input, output] = [0, 0];
        for (const [i, o, isTaken] of list) {
          [input, output] = [input + i, output + o];
          counter.usage(totals(input, output));
          if (isTaken) sum = addSpent(sum, counter.takeUnstored());
        }
        counter.usage(totals(input, output, 1.5));
        sum = addSpent(sum, counter.takeUnstored());
        assert.equal(sum.tokens, input + output);
        assert.ok(
          Math.abs(sum.usd - 1.5) < 1e-9,
          `the told cost takes the place of estimates: ${sum.usd}`,
        );
      }),
    );
  });

  test('a continued session counts from its base, whatever is stored', () => {
    const counter = new SpendingCounter({ ...nothingSpent, tokens: 500 });
    counter.goesOnFrom(totals(200, 100));
    counter.usage(totals(250, 100));
    assert.equal(counter.takeUnstored().tokens, 50);
  });

  test('an agent that does not report its base has totals that include the stored usage, or restarts', () => {
    const goesOn = new SpendingCounter({ ...nothingSpent, tokens: 500 });
    goesOn.usage(totals(600, 0));
    assert.equal(goesOn.takeUnstored().tokens, 100);
    const anew = new SpendingCounter({ ...nothingSpent, tokens: 500 });
    anew.usage(totals(60, 0));
    assert.equal(anew.takeUnstored().tokens, 60);
  });

  test('after anything was counted, something is left to store until it is taken', () => {
    const counter = new SpendingCounter(nothingSpent);
    assert.equal(counter.hasUnstored, false);
    for (const count of [
      () => counter.turn(),
      () => counter.worked(1),
      () => counter.usage(totals(1, 0)),
      () => counter.usage(totals(1, 0, 0.5)),
    ]) {
      count();
      assert.equal(counter.hasUnstored, true);
      counter.takeUnstored();
      assert.equal(counter.hasUnstored, false);
    }
  });

  test('turns, time and money are counted by the price list while no cost is reported', () => {
    const counter = new SpendingCounter(nothingSpent);
    counter.model('claude-opus-4');
    counter.turn();
    counter.worked(1_500);
    counter.usage(totals(1_000_000, 0));
    assert.deepEqual(counter.takeUnstored(), {
      tokens: 1_000_000,
      usd: 5,
      turns: 1,
      workedMs: 1_500,
    });
    assert.deepEqual(counter.takeUnstored(), nothingSpent);
    assert.equal(estimateUsd(null, { input: 0, output: 1_000_000, cacheRead: 0 }), 15);
  });
});
