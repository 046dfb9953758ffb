// Text in the composer: matching paths, and the task that a message becomes.

import assert from 'node:assert/strict';
import { followUpFields } from '../../../extension/plan/follow-up.ts';
import { rankPaths } from '../../../extension/project/rank-paths.ts';
import { typedPath, withPath } from '../../../webview/stream/header/path-completion.ts';

suite('composer', () => {
  test('files whose name starts with the text come first, and at most twenty are shown', () => {
    const paths = ['docs/print.md', 'src/blueprint.ts', 'src/print.ts', 'print/readme.md', 'a.ts'];
    assert.deepEqual(rankPaths(paths, 'Print'), [
      'src/print.ts',
      'docs/print.md',
      'print/readme.md',
      'src/blueprint.ts',
    ]);
    assert.deepEqual(rankPaths(paths, 'docs/p'), ['docs/print.md']);
    assert.deepEqual(rankPaths(paths, 'none'), []);
    const many = Array.from({ length: 90 }, (_, number) => `f${number}.ts`);
    assert.equal(rankPaths(many, 'f').length, 20);
  });

  test('an @ that starts a word asks for a path, but one inside an address does not', () => {
    assert.deepEqual(typedPath('See @src/pr', 11), { start: 4, typed: 'src/pr' });
    assert.deepEqual(typedPath('@', 1), { start: 0, typed: '' });
    for (const text of ['a@b', 'See @src now', 'none']) {
      assert.equal(typedPath(text, text.length), null, text);
    }
  });

  test('the path replaces the typed text, and the rest stays', () => {
    const typed = { start: 4, typed: 'pr' };
    assert.deepEqual(withPath('See @pr', typed, 'src/print.ts'), {
      text: 'See src/print.ts ',
      caret: 17,
    });
    assert.equal(withPath('See @pr first', typed, 'a.ts').text, 'See a.ts first');
  });

  test('the first line of a message becomes the title of the follow-up task', () => {
    assert.deepEqual(followUpFields(' Add a test. '), { title: 'Add a test.' });
    const two = 'Add a test.\n\nFor empty names.';
    assert.deepEqual(followUpFields(two), { title: 'Add a test.', description: two });
    const long = `Add ${'very '.repeat(30)}many tests.`;
    const fields = followUpFields(long);
    assert.ok(fields.title.length <= 80 && fields.title.endsWith('very…'), fields.title);
    assert.equal(fields.description, long);
  });
});
