// Secret values are never stored.

import assert from 'node:assert/strict';
import { createMask, maskDeep } from '../../../server/agents/kit/log/masking.ts';

function check(secrets: readonly string[], text: string, expected: string): void {
  assert.equal(createMask(secrets)(text), expected);
}

suite('masking', () => {
  test('values longer than five characters are replaced', () => {
    check(['abcdef'], 'x abcdef y abcdefabcdef', 'x [hidden] y [hidden][hidden]');
    check(['abcde'], 'x abcde y', 'x abcde y');
    check([], 'nothing', 'nothing');
    check(['      '], 'a       b', 'a       b');
  });
  test('the longest value is replaced first', () => {
    check(['secret', 'secret-long'], 'secret-long secret', '[hidden] [hidden]');
  });
  test('values are text, not patterns', () => {
    check(['a.c*e+f$'], 'a.c*e+f$ abcdef', '[hidden] abcdef');
    check(['[x](y)|{z}\\'], 'q[x](y)|{z}\\q', 'q[hidden]q');
  });
  test('each line of a multi-line value counts, and so does its form inside JSON', () => {
    check(['line one\nline two'], 'at line two!', 'at [hidden]!');
    check(['quo"te\\d'], '{"k":"quo\\"te\\\\d"}', '{"k":"[hidden]"}');
  });
  test('every text of an event is masked', () => {
    const masked = maskDeep(
      { type: 'tool_call', input: { list: ['my hunter2x', 5, null], hunter2x: true } },
      createMask(['hunter2x']),
    );
    assert.deepEqual(masked, {
      type: 'tool_call',
      input: { list: ['my [hidden]', 5, null], '[hidden]': true },
    });
  });
});
