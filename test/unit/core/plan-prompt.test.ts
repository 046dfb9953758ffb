// Prompts about plans: for the agent that plans, the one whose plan was sent back, and those that
// implement.

import assert from 'node:assert/strict';
import { boundedPlan, planCharactersMax } from '../../../server/core/prompt/plan-prompt.ts';
import {
  buildPrompt,
  type PromptInput,
  sentBackPrompt,
} from '../../../server/core/prompt/prompt.ts';

const plain: PromptInput = {
  guidelines: 'GUIDE',
  blockers: [],
  recent: [],
  hints: ['HINT'],
  task: {
    id: 'T-1',
    title: 'Add it',
    description: 'WHAT',
    type: 'feature',
    acceptanceCriteria: [],
  },
  siblings: null,
  subTasks: [{ id: 'T-1.1', title: 'A part' }],
  lastFailure: null,
  epic: null,
  attempt: 1,
};

suite('prompts of plans', () => {
  test('a planning agent gets the task, and the rule to write nothing', () => {
    const text = buildPrompt({ ...plain, plan: { kind: 'make', sentBack: null } });
    for (const words of ['GUIDE', 'WHAT', 'HINT', 'Plan how to do this task', 'T-1.1'])
      assert.ok(text.includes(words), words);
    assert.match(text, /Only plan, do not implement/);
    assert.doesNotMatch(text, /Implement this task|Commit your work|sub-tasks are done/);
    assert.equal(sentBackPrompt({ ...plain, plan: { kind: 'make', sentBack: null } }), null);
  });

  test('a plan that was sent back is quoted with the feedback, in a conversation and without one', () => {
    const sentBack = { text: 'OLD ``` PLAN', comment: 'NOT SO' };
    const input: PromptInput = { ...plain, plan: { kind: 'make', sentBack } };
    const next = sentBackPrompt(input) ?? '';
    for (const text of [next, buildPrompt(input)]) {
      assert.match(text, /````text\nOLD ``` PLAN\n````/);
      assert.match(text, /NOT SO/);
      assert.match(text, /HINT/);
      assert.match(text, /Only plan, do not implement/);
    }
    assert.doesNotMatch(next, /WHAT/);
  });

  test('an implementing agent gets the approved plan, fenced, and the usual rules', () => {
    const text = buildPrompt({ ...plain, plan: { kind: 'approved', text: '# Do\n\n1. THIS' } });
    assert.match(text, /## The Approved Plan[^]*```text\n# Do\n\n1\. THIS\n```/);
    assert.match(text, /Implement this task completely/);
    assert.match(text, /Commit your work/);
    assert.equal(buildPrompt(plain).includes('Plan'), false);
  });

  test('a plan is bounded', () => {
    assert.equal(boundedPlan('  x\n'), 'x');
    const long = boundedPlan('y'.repeat(planCharactersMax * 2));
    assert.ok(long.length <= planCharactersMax);
    assert.match(long, /characters left out/);
    assert.equal(boundedPlan(long), long);
  });
});
