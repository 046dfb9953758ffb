import assert from 'node:assert/strict';
import {
  freedWords,
  freeTitle,
  goesWords,
  rowsOf,
  totalWords,
} from '../../../../webview/worktrees/worktree-rows.ts';
import { poolSizes, slotView } from '../../../doubles/worktrees.ts';

const mb = 1024 * 1024;

suite('rows of the worktrees', () => {
  const rows = rowsOf(poolSizes(), (id) => (id === 'print' ? 'Print the tree' : null));

  test('removable worktrees come first, the largest first', () => {
    assert.deepEqual(
      rows.map(({ name, size, mayGo }) => `${name} ${size} ${mayGo}`),
      [
        'slot-4 1.5 GB true',
        'slot-3 900 MB true',
        'slot-1 1000 MB false',
        'slot-2 1000 MB false',
        '.drover-setups 300 MB false',
      ],
    );
  });

  test('each row gives the reason, and names its task', () => {
    assert.deepEqual(
      [rows[0]?.why, rows[2]?.why, rows[2]?.task],
      [
        'It may go: no task uses it, and all its work has landed or is kept by a ref.',
        'It stays: its task is running.',
        'Print the tree',
      ],
    );
  });

  test('the button shows the space, and the confirmation the number', () => {
    const going = rows.filter(({ mayGo }) => mayGo);
    assert.equal(freeTitle(going), 'Free 2.3 GB');
    assert.match(goesWords(going), /^2 worktrees go\. /);
    assert.match(goesWords(going.slice(0, 1)), /^1 worktree goes\. /);
  });

  test('the total is shown with its limit, below it and without one', () => {
    assert.equal(totalWords(poolSizes()), '4.6 GB of 4.5 GB. No task starts until there is room.');
    assert.equal(totalWords({ ...poolSizes(), total_bytes: mb }), '1 MB of 4.5 GB.');
    assert.match(totalWords({ ...poolSizes(), limit_bytes: null }), /disk_limit is not set/);
  });

  test('the freed space and the remaining worktrees are reported', () => {
    const gone = slotView({ path: '/w/slot-3', action: 'removed', size_bytes: 2 * mb });
    const kept = slotView({ path: '/w/slot-4', reason: 'a task has just taken it' });
    const other = slotView({ path: '/w/slot-1', reason: 'its task is paused' });
    assert.equal(
      freedWords([gone, kept, other], ['/w/slot-3', '/w/slot-4']),
      '2 MB are free again. slot-4 stays: a task has just taken it.',
    );
  });
});
