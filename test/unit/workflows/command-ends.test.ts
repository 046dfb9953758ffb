// How the end of a gate or setup is told: with its limit, and a guess why it was late.

import assert from 'node:assert/strict';
import { commandEnd } from '../../../server/workflows/kit/command-ends.ts';

const limit = { name: '[gate] timeout', ms: 60_000 };

function check(silentMs: number, expected: string): void {
  assert.equal(
    commandEnd({ isLate: true, silentMs, exitCode: null, telling: [], limit }),
    `did not finish within 1 min (${limit.name})${expected}`,
  );
}

suite('the end of a command', () => {
  test('a command that reached its time limit silently may be in watch mode', () => {
    check(59_000, '; it was still running and silent: is it a watch mode?');
    check(30_000, '; it was still running and silent: is it a watch mode?');
  });
  test('a command that printed until its time limit is only late', () => {
    check(0, '');
    check(29_999, '');
  });
  test('a command that exited by itself is described by its exit code', () => {
    const end = { isLate: false, silentMs: 59_000, exitCode: 1, telling: ['boom'], limit };
    assert.equal(commandEnd(end), 'ended with exit code 1: boom');
  });
});
