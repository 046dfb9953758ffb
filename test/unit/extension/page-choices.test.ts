// The tasks that Open Stream offers.

import assert from 'node:assert/strict';
import { pageChoices, pageSubject } from '../../../extension/commands/page-choices.ts';
import type { TaskView } from '../../../server/protocol/views.ts';

function task(id: string, change: Partial<TaskView> = {}): TaskView {
  return { id, attempts: 0, branch: null, status: 'ready', ...change } as TaskView;
}

const idsOf = (...tasks: readonly TaskView[]): string =>
  pageChoices(tasks)
    .map(({ id }) => id)
    .join();

suite('tasks whose page can be opened', () => {
  test('a page follows the newest attempt unless a person asked for one', () => {
    assert.deepEqual(pageSubject('/shop', 'a', null), { root: '/shop', id: 'a', attempt: null });
    assert.equal(pageSubject('/shop', 'a', 2).attempt, 2);
  });

  test('the only task is offered even before its first attempt', () => {
    assert.equal(idsOf(task('a')), 'a');
    assert.equal(idsOf(task('a', { status: 'blocked' })), 'a');
    assert.equal(idsOf(), '');
  });

  test('tasks with a stream come first', () => {
    const works = task('c', { status: 'in_progress', branch: 'drover/c' });
    const failed = task('d', { attempts: 2 });
    assert.equal(idsOf(task('a'), task('b', { status: 'blocked' }), works, failed), 'c,d,a,b');
  });
});
