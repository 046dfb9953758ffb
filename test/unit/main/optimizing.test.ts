// The backend's optimizing compilers: absent at first, there once it has worked, and no reason to
// compile everything again at its next start.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { backendNodeArgs } from '../../../server/main/start-backend.ts';

const optimizing = new URL('../../../server/main/watch/optimizing.ts', import.meta.url).href;

/** `cachedDataVersionTag` is what V8 holds kept code against: it changes with the flags. */
const program = (atLeastMs: number): string => `
import { cachedDataVersionTag } from 'node:v8';
import { optimizeOnceBusy } from ${JSON.stringify(optimizing)};
const tags = [cachedDataVersionTag()];
process.on('exit', () => {
  tags.push(cachedDataVersionTag());
  console.log(JSON.stringify(tags));
});
optimizeOnceBusy(${atLeastMs});
optimizeOnceBusy(${atLeastMs});
tags.push(cachedDataVersionTag());
`;

function tagsOf(args: readonly string[], atLeastMs: number): readonly number[] {
  const all = [...args, '--input-type=module', '--eval', program(atLeastMs)];
  return JSON.parse(execFileSync(process.execPath, all, { encoding: 'utf8' })) as number[];
}

suite('optimizing compilers of the backend', () => {
  test('come in when it has worked for long, and leave the kept code usable', () => {
    const [before, busy, atExit] = tagsOf(backendNodeArgs, 0);
    assert.notEqual(busy, before);
    assert.equal(atExit, before);
  });

  test('stay out before that', () => {
    const [before, after] = tagsOf(backendNodeArgs, 3_600_000);
    assert.equal(after, before);
  });

  test('are left alone in a process that has them', () => {
    const [before, after] = tagsOf(['--no-warnings'], 0);
    assert.equal(after, before);
  });
});
