// Tasks made from a failing test, as VS Code passes it to a command in its menus.

import assert from 'node:assert/strict';
import { testChosen } from '../../../extension/plan/shown-test.ts';
import { proposeForTest } from '../../../extension/plan/task-from-test.ts';

const suiteItem = { id: 's', label: 'Cart', children: {} };
const item = {
  id: 's/t',
  label: 'rounds the total',
  children: {},
  parent: suiteItem,
  uri: { path: '/r/test/cart.test.ts' },
  range: { start: { line: 6 } },
};
const message = {
  message: { value: 'Expected **3**, got 4' },
  expectedOutput: '3',
  actualOutput: '4',
  location: { uri: { path: '/r/test/cart.test.ts' }, range: { start: { line: 11 } } },
  stackTrace: [
    { label: 'total', uri: { path: '/r/src/cart.ts' }, position: { line: 2 } },
    { label: 'node:internal' },
  ],
};

suite('task from a test', () => {
  test('a message names the test with its suites, and the location of the failure', () => {
    const { uri, test: chosen } = testChosen([{ test: item, message }]) ?? assert.fail('no test');
    assert.equal(uri?.path, '/r/test/cart.test.ts');
    assert.deepEqual(chosen, {
      labels: ['Cart', 'rounds the total'],
      line: 12,
      failure: {
        message: 'Expected **3**, got 4',
        expected: '3',
        actual: '4',
        stack: ['total (/r/src/cart.ts:3)', 'node:internal'],
      },
    });
    const { title, description } = proposeForTest({ ...chosen, path: 'test/cart.test.ts' });
    assert.equal(title, 'Fix the failing test: rounds the total');
    assert.match(
      description,
      /^The test "Cart › rounds the total" in `test\/cart\.test\.ts`, line 12 fails\./,
    );
    assert.match(description, /Its message:\n\n```\nExpected \*\*3\*\*, got 4\n```/);
    assert.match(description, /Actual:\n\n```\n4\n```/);
  });

  test('a test alone is enough', () => {
    const { test: chosen } = testChosen([item]) ?? assert.fail('no test');
    assert.deepEqual([chosen.line, chosen.failure], [7, null]);
    const { description } = proposeForTest({ ...chosen, path: null });
    assert.equal(
      description,
      'The test "Cart › rounds the total" fails. Make it pass without weakening it.',
    );
  });

  test('nothing else is accepted', () => {
    for (const other of [undefined, null, 'id', { taskId: 'x' }, { test: null }, { path: '/r' }]) {
      assert.equal(testChosen([other]), null);
    }
  });
});
