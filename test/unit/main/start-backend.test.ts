// How long a command waits for the backend that it has started.

import assert from 'node:assert/strict';
import { mayAnswer } from '../../../server/main/start-backend.ts';

suite('a backend that starts', () => {
  test('a client waits for it while it lives, because a busy machine takes longer than a failed start', () => {
    assert.deepEqual([mayAnswer(19_000, true), mayAnswer(21_000, true)], [true, false]);
    assert.deepEqual([mayAnswer(60_000, false), mayAnswer(91_000, false)], [true, false]);
  });
});
