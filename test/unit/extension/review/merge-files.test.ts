// Results of a merge in the editor: when they are done, and where they are kept.

import assert from 'node:assert/strict';
import {
  emptyResult,
  joinedWords,
  landingWords,
  readMerges,
  resultState,
  resultText,
  storedName,
} from '../../../../extension/review/merge-files.ts';

const sides = { base: 'base\n', landed: 'landed\n', task: 'mine\n' };
const undecided = { kind: 'undecided', undecided: 1, conflicts: 1 };

suite('extension: merge files', () => {
  test('a result starts with both sides between markers, and is unresolved while it contains a marker', () => {
    const text = emptyResult('landed\n', 'mine');
    assert.equal(text, '<<<<<<< landed\nlanded\n=======\nmine\n>>>>>>> this task\n');
    assert.deepEqual(resultState(text, sides), { kind: 'marked' });
    assert.deepEqual(resultState(text.replaceAll('\n', '\r\n'), sides), { kind: 'marked' });
    const [ours = ''] = text.split('\n');
    assert.deepEqual(resultState(`${ours}\nlanded\n`, sides), { kind: 'marked' });
  });

  test('a merge editor that was just opened or whose choice was reverted resolves nothing', () => {
    // VS Code writes the base over the marks, and saves it if it saves by itself.
    assert.deepEqual(resultState('base\n', sides), undecided);
    for (const text of ['landed\n', 'mine\n', 'landed\nmine\n', 'other\n'])
      assert.deepEqual(resultState(text, sides), { kind: 'decided' }, text);
  });

  test('an empty result deletes a file only if one side deleted it', () => {
    assert.equal(resultText('', sides), '');
    assert.equal(resultText('', { ...sides, landed: null }), null);
    assert.deepEqual(resultState('', { ...sides, landed: null }), { kind: 'decided' });
    const added = { ...sides, base: null };
    assert.deepEqual(resultState('', added), undecided, 'both sides added the file');
  });

  test('a person reviews the change before it lands', () => {
    assert.equal(landingWords('a.md', 'landed\nmine\n', sides), '+1 −0 in a.md');
    assert.equal(landingWords('a.md', 'landed\n', sides), 'no change in a.md');
    assert.equal(landingWords('a.md', '', { ...sides, task: null }), '+0 −1 in a.md');
    assert.equal(joinedWords(['a', 'b']), 'a, b');
    assert.equal(joinedWords(['1', '2', '3', '4', '5', '6', '7', '8']), '1, 2, 3, 4, 5, 6, 2 more');
  });

  test('a path in the repository names a file below the folder, whatever its name', () => {
    assert.deepEqual(storedName('task-1/..', '../a/./b.ts'), ['task-1___', 'a', 'b.ts']);
  });

  test('merges stored by another version are ignored', () => {
    assert.deepEqual(readMerges([null, { task: 'a' }, 'x']), []);
    assert.deepEqual(readMerges({}), []);
  });
});
