// What a note may contain and cite: everything else is refused with a sentence that a model or a
// person understands.

import assert from 'node:assert/strict';
import { ok, Refusal } from '../../../server/core/failure.ts';
import { citedPlace, lineAt, noteText } from '../../../server/rpc/notes/cited-line.ts';

const refusal =
  (sentence: RegExp) =>
  (error: unknown): boolean =>
    error instanceof Refusal && sentence.test(error.message);

suite('the text and the place of a note', () => {
  test('a text becomes one line of at most 280 characters', () => {
    assert.equal(noteText('  two\n\tlines\u0007 '), 'two lines');
    assert.equal(noteText('x'.repeat(280)).length, 280);
    assert.throws(() => noteText('x'.repeat(281)), refusal(/has 281 characters; the limit is 280/));
    assert.throws(() => noteText(' \n '), refusal(/must not be empty/));
  });

  for (const text of ['src/cart.ts:12', './src/cart.ts:12', '/slot/3/src/cart.ts:12']) {
    test(`${text} is a location in the project`, () => {
      assert.deepEqual(citedPlace(text, '/slot/3'), { path: 'src/cart.ts', line: 12 });
    });
  }

  for (const text of [
    '',
    'src/cart.ts',
    'src/cart.ts:0',
    'src/cart.ts:x',
    '../cart.ts:1',
    'src/../../cart.ts:1',
    '/etc/passwd:1',
    '/slot/33/a.ts:1',
    'C:\\a.ts:1',
    'src//a.ts:1',
    'a\0.ts:1',
  ]) {
    test(`${JSON.stringify(text)} is not a location`, () => {
      assert.throws(() => citedPlace(text, '/slot/3'), refusal(/file:line/));
    });
  }

  test('a line is read without its indentation, and a blank or missing line is none', async () => {
    const bytes = new TextEncoder().encode('one\n\n  three\n');
    const git = {
      fileAt: async (_commit: string, path: string) =>
        ok(path === 'a.ts' ? { size: bytes.length, bytes } : null),
    };
    const at = (path: string, line: number) => lineAt(git, 'sha', { path, line });
    assert.equal(await at('a.ts', 3), 'three');
    for (const [path, line] of [
      ['a.ts', 2],
      ['a.ts', 9],
      ['b.ts', 1],
    ] as const) {
      assert.equal(await at(path, line), null);
    }
  });
});
