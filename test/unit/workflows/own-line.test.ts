// A landing takes its line before it builds, and asks again only if that can help.

import assert from 'node:assert/strict';
import { err, ok } from '../../../server/core/failure.ts';
import type { GitFailure, GitResult } from '../../../server/git/port.ts';
import type { Engine } from '../../../server/workflows/kit/engine-ports.ts';
import { ownLine } from '../../../server/workflows/kit/git-trouble.ts';

suite('the line of a landing', () => {
  const away: GitFailure = { kind: 'failed', retryable: true, isAway: true, message: 'away' };
  const raced: GitFailure = { kind: 'failed', retryable: true, message: 'raced' };

  async function asking(first: GitFailure): Promise<{ answers: boolean[]; asked: number }> {
    let asked = 0;
    const own = (): Promise<GitResult<void>> => {
      asked += 1;
      return Promise.resolve(asked === 1 ? err(first) : ok(undefined));
    };
    const engine = { git: { ownLine: own } } as unknown as Engine;
    const owned = await ownLine(engine, 'main');
    const answers = [(await owned()).ok, (await owned()).ok, (await owned()).ok];
    return { answers, asked };
  }

  test('it is not waited for twice while the remote does not answer, so that another machine lands soon', async () => {
    assert.deepEqual(await asking(away), { answers: [false, true, true], asked: 2 });
  });

  test('it is taken at once after a race', async () => {
    assert.deepEqual(await asking(raced), { answers: [true, true, true], asked: 2 });
  });
});
