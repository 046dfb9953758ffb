// Results of a merge in the editor: when they are done, and where they are kept.

import assert from 'node:assert/strict';
import {
  editedResult,
  emptyResult,
  readMerges,
  storedName,
} from '../../../../extension/review/merge-files.ts';

const both = { sides: [true, true, true] };

suite('extension: merge files', () => {
  test('a result begins with both sides between marks, and is open while a mark is in it', () => {
    const text = emptyResult('landed\n', 'mine');
    assert.equal(text, '<<<<<<< landed\nlanded\n=======\nmine\n>>>>>>> this task\n');
    assert.equal(editedResult(text, both), undefined);
    assert.equal(editedResult(text.replaceAll('\n', '\r\n'), both), undefined);
    assert.equal(editedResult('landed\nmine\n', both), 'landed\nmine\n');
  });

  test('an empty result takes a file out only where one side has', () => {
    assert.equal(editedResult('', both), '');
    assert.equal(editedResult('', { sides: [true, false, true] }), null);
  });

  test('a path of the repository names a file below the folder, whatever it is called', () => {
    assert.deepEqual(storedName('task-1/..', '../a/./b.ts'), ['task-1___', 'a', 'b.ts']);
  });

  test('what another version has kept is left out', () => {
    assert.deepEqual(readMerges([null, { task: 'a' }, 'x']), []);
    assert.deepEqual(readMerges({}), []);
  });
});
