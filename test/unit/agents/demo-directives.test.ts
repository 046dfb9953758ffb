// Directives of the demo agent, found anywhere in a prompt.

import assert from 'node:assert/strict';
import { keepBothSides } from '../../../server/agents/demo/conflicts.ts';
import { findDirectives, type Directive } from '../../../server/agents/demo/directives.ts';

function check(prompt: string, ...expected: Directive[]): void {
  assert.deepEqual(findDirectives(prompt), expected);
}

suite('demo directives', () => {
  test('there is one per line, anywhere in the text', () => {
    check(
      'Do it.\n\n- demo: write a/b.txt hello  world\n> demo: nothing\nno demo: nothing here',
      { do: 'write', path: 'a/b.txt', text: 'hello  world' },
      { do: 'nothing' },
    );
    check('Description: x\r\ndemo: say hi\r\n', { do: 'say', text: 'hi' });
    check('a demo without any');
  });
  test('each has its arguments', () => {
    check('demo: append f one\\ntwo', { do: 'append', path: 'f', text: 'one\ntwo' });
    check('demo: edit-line f 3 new text', {
      do: 'edit-line',
      path: 'f',
      line: 3,
      text: 'new text',
    });
    check('demo: sleep 200', { do: 'sleep', ms: 200 });
    check('demo: fail 2', { do: 'fail', times: 2 });
    check('demo: fail', { do: 'fail', times: Number.MAX_SAFE_INTEGER });
    check('demo: ask Which? | a | b c', { do: 'ask', text: 'Which?', choices: ['a', 'b c'] });
    check('demo: ask Sure?', { do: 'ask', text: 'Sure?', choices: ['yes', 'no'] });
    check('demo: commit Add it', { do: 'commit', message: 'Add it' });
    check('demo: say-until ../go line {{n}}', {
      do: 'say-until',
      path: '../go',
      text: 'line {{n}}',
    });
    check('demo: limit 500', { do: 'limit', ms: 500 });
    check('demo: leave-running', { do: 'leave-running' });
    check('demo: fly', { do: 'unknown', name: 'fly' });
  });
  test('planning has its own directives', () => {
    const prompt = 'demo: when-planning write a b\ndemo: say hi\n';
    check(prompt, { do: 'say', text: 'hi' });
    assert.deepEqual(findDirectives(prompt, 'planner'), [{ do: 'write', path: 'a', text: 'b' }]);
  });
  test('a conflict is resolved by keeping both sides', () => {
    assert.equal(
      keepBothSides('a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\nd\n'),
      'a\nb\nc\nd\n',
    );
    assert.equal(keepBothSides('<<<<<<< x\nb\n||||||| base\no\n=======\nc\n>>>>>>> y'), 'b\nc');
  });
});
