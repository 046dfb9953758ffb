// The inbox alone in Chromium: items that wait for a person, and how they are answered.

import assert from 'node:assert/strict';
import type { TaskView } from '../../../server/protocol/views.ts';
import { checkAxe } from '../support/axe.ts';
import { smallBoard } from '../support/boards.ts';
import { stateThemes } from '../support/themes.ts';
import { openWebview, screenshot, type OpenWebview } from '../support/webview-page.ts';

suite('webview: inbox', () => {
  let view: OpenWebview;
  const item = (name: RegExp): ReturnType<typeof view.page.getByRole> =>
    view.page.getByRole('listitem', { name });
  const anyTask = (): TaskView => smallBoard().tasks[0] as TaskView;
  const open = async (): Promise<void> => {
    view = await openWebview('inbox', { state: { board: smallBoard() } });
    view.host.backend('answer', anyTask);
    view.host.backend('task.hint', anyTask);
    await item(/^Permission: Print the tree/).waitFor();
  };

  for (const theme of stateThemes) {
    test(`it shows waiting items, oldest first: ${theme}`, async () => {
      view = await openWebview('inbox', { theme, state: { board: smallBoard() } });
      await item(/^Permission/).waitFor();
      const labels = await view.page
        .getByRole('listitem')
        .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
      assert.deepEqual(labels, [
        'Permission: Print the tree',
        'Question: Print the tree',
        'Review: Serve over HTTP',
        'Failed: Store on disk',
      ]);
      await screenshot(view.page, `inbox-${theme.toLowerCase().replaceAll(' ', '-')}`);
      await checkAxe(view.page);
      await view.close();
    });
  }

  test('a number key answers the focused question, bound to its id', async () => {
    await open();
    await item(/^Permission/).focus();
    await view.page.keyboard.press('2');
    assert.deepEqual(await view.host.waitFor('answer'), { id: 'q-run', choice: 'Deny' });
    await view.close();
  });

  test('a plan is read, and approved by the number that was read', async () => {
    const board = smallBoard();
    const text = '# Plan\n\n1. <b>One</b>';
    const proposal = {
      number: 2,
      attempt: 2,
      state: 'proposed',
      comment: null,
      created_at: 1,
    } as const;
    const tasks = board.tasks.map((task) =>
      task.id === 'serve'
        ? { ...task, review_kind: 'plan', proposal: { ...proposal, text } }
        : task,
    );
    view = await openWebview('inbox', { state: { board: { ...board, tasks } } });
    view.host.backend('approve', anyTask);
    const plan = item(/^Plan: Serve over HTTP/);
    await plan.waitFor();
    assert.match(await plan.innerText(), /1\. <b>One<\/b>/);
    await plan.getByRole('button', { name: 'Approve' }).click();
    assert.deepEqual(await view.host.waitFor('approve'), { id: 'serve', seen: 'plan-2' });
    await view.close();
  });

  test('a text field is shown for actions that need text', async () => {
    await open();
    await item(/^Failed: Store on disk/).focus();
    await view.page.keyboard.press('2');
    await view.page.getByLabel('What should the agent know?').fill('Use a temporary file.');
    await view.page.keyboard.press('Enter');
    assert.deepEqual(await view.host.waitFor('task.hint'), {
      id: 'store',
      text: 'Use a temporary file.',
    });
    assert.deepEqual(await view.host.waitFor('retry'), { task: 'store' });
    await view.close();
  });

  test('arrow keys move through the list, and Enter opens an item', async () => {
    await open();
    await item(/^Permission/).focus();
    await view.page.keyboard.press('ArrowDown');
    await view.page.keyboard.press('ArrowUp');
    await view.page.keyboard.press('Enter');
    assert.deepEqual(await view.host.waitFor('openStream'), { task: 'print' });
    await view.close();
  });

  test('the first click in a scrolled inbox presses the button under the mouse', async () => {
    view = await openWebview('inbox', {
      state: { board: smallBoard() },
      viewport: { width: 320, height: 150 },
    });
    await item(/^Permission/).waitFor();
    const button = item(/^Failed/).getByRole('button', { name: 'Retry', exact: true });
    await button.scrollIntoViewIfNeeded();
    const box = await button.boundingBox();
    assert.ok(box !== null);
    await view.page.mouse.move(box.x + 10, box.y + 8);
    // The effect of a press on a view without the focus, before the page is told of it.
    await view.page.evaluate(async () => {
      globalThis.dispatchEvent(new FocusEvent('focus'));
      await new Promise((drawn) => requestAnimationFrame(drawn));
    });
    assert.deepEqual(await button.boundingBox(), box);
    await view.page.mouse.down();
    await view.page.mouse.up();
    assert.deepEqual(await view.host.waitFor('retry'), { task: 'store' });
    await view.close();
  });

  test('a refusal is shown, and the item stays', async () => {
    await open();
    view.host.backend('answer', () => {
      throw new Error('the question was withdrawn');
    });
    await item(/^Permission/).focus();
    await view.page.keyboard.press('1');
    await view.page.getByRole('alert').filter({ hasText: 'withdrawn' }).waitFor();
    assert.equal(await item(/^Permission/).count(), 1);
    await view.close();
  });
});
