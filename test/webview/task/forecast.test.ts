// A conflict with other work that is known before either has landed, on the page of a task.

import assert from 'node:assert/strict';
import { answerReads } from '../support/answers.ts';
import { checkAxe } from '../support/axe.ts';
import { boardOf, numbered } from '../support/boards.ts';
import { openWebview, screenshot, type OpenWebview } from '../support/webview-page.ts';

suite('webview: a forecast conflict', () => {
  let view: OpenWebview;

  setup(async () => {
    const conflict = { level: 'conflict', files: ['src/cart.ts'], since: 1 } as const;
    const sum = { other: 'sum', ...conflict };
    const same = { ...sum, other: 'find', level: 'same_file' } as const;
    const tasks = numbered([
      { id: 'print', title: 'Print the tree', status: 'in_progress', forecast: [sum, same] },
      { id: 'sum', title: 'Sum it up <b>', status: 'in_progress' },
    ]);
    view = await openWebview('stream', {
      state: { board: boardOf(tasks, []), subject: { id: 'print', attempt: null } },
      prepare: (host) => {
        answerReads(host);
        host.backend('attempts', () => []);
        host.backend('log.read', () => {
          throw new Error('no attempt yet');
        });
        host.backend('notes.list', () => []);
        host.backend('task.pause', () => tasks[0]!);
      },
    });
  });
  teardown(() => view.close());

  test('it names the other task and the files, and one button makes this task wait', async () => {
    const { page, host } = view;
    await page.getByRole('tab', { name: 'Task' }).click();
    await page.getByText('This task conflicts with sum in src/cart.ts.').waitFor();
    assert.equal(await page.getByText('conflicts with find').count(), 0);
    await checkAxe(page);
    await screenshot(page, 'task-forecast');
    await page.getByRole('button', { name: 'Wait for sum' }).click();
    assert.deepEqual(await host.waitFor('task.pause'), { id: 'print', until: 'sum' });
  });
});
