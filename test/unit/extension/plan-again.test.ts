// A prompt is not lost when no plan could be made of it.

import assert from 'node:assert/strict';
import { askForAnotherPlan } from '../../../extension/plan/plan-again.ts';

/** Fails until the prompt contains a word; records the planned and offered prompts. */
function tries(answers: (string | null)[], edits: (string | null)[] | null) {
  const planned: string[] = [];
  const offered: string[] = [];
  return {
    planned,
    offered,
    edit: edits === null ? null : () => Promise.resolve(edits.shift() ?? null),
    plan: (words: string): Promise<boolean> => {
      planned.push(words);
      if (words === 'stop') return Promise.resolve(false);
      if (words === 'good') return Promise.resolve(true);
      return Promise.reject(new Error('the provider is overloaded.'));
    },
    offer: (text: string, buttons: readonly string[]): Promise<string | null> => {
      offered.push(`${text} [${buttons.join('] [')}]`);
      return Promise.resolve(answers.shift() ?? null);
    },
  };
}

suite('plan again', () => {
  test('after a failed plan, retrying and editing the prompt are offered', async () => {
    const parts = tries(['Try Again', 'Edit Prompt'], ['good']);
    assert.equal(await askForAnotherPlan(parts, 'bad'), null);
    assert.deepEqual(parts.planned, ['bad', 'bad', 'good']);
    assert.equal(
      parts.offered[0],
      'No plan was made: the provider is overloaded. [Try Again] [Edit Prompt]',
    );
  });

  test('a prompt without a plan is returned and kept, whether it was dismissed, not edited, or stopped', async () => {
    assert.equal(await askForAnotherPlan(tries([null], []), 'bad'), 'bad');
    assert.equal(await askForAnotherPlan(tries(['Edit Prompt'], [null]), 'bad'), 'bad');
    assert.equal(await askForAnotherPlan(tries([], []), 'stop'), 'stop');
  });

  test('a plan from files has no prompt to edit', async () => {
    const parts = tries([null], null);
    await askForAnotherPlan(parts, '');
    assert.deepEqual(parts.offered, ['No plan was made: the provider is overloaded. [Try Again]']);
  });
});
