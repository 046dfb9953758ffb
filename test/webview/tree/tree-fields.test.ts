// The field of a new task or epic in a plan that is longer than the view, by keyboard and by mouse.

import assert from 'node:assert/strict';
import type { EpicView } from '../../../server/protocol/views.ts';
import { taskView } from '../../doubles/views.ts';
import { boardOf, largeBoard, numbered, smallBoard } from '../support/boards.ts';
import { openWebview, screenshot, type OpenWebview } from '../support/webview-page.ts';

suite('webview: fields of the tree', () => {
  let view: OpenWebview;

  const row = (name: RegExp): ReturnType<typeof view.page.getByRole> =>
    view.page.getByRole('treeitem', { name });
  const press = (key: string): Promise<void> => view.page.keyboard.press(key);
  const open = async (board = largeBoard(300)): Promise<void> => {
    view = await openWebview('tree', { state: { board }, viewport: { width: 300, height: 400 } });
    view.host.backend('task.add', ({ title }) => taskView({ id: 'fresh', title }));
    view.host.backend('task.move', () => []);
    view.host.backend('epic.add', () => ({ ...(board.epics[0] as EpicView), id: 'epic-x' }));
    await view.page
      .getByText(board.epics[0]?.title ?? 'New Epic')
      .first()
      .waitFor();
  };
  /** Resolves with the top of the focused field once it is in sight. */
  const fieldInSight = async (): Promise<number> => {
    const field = view.page.locator('input.text:focus');
    await field.waitFor();
    const top = async (): Promise<number> => (await field.boundingBox())?.y ?? -1;
    let at = await top();
    for (let tries = 0; tries < 50 && (at < 0 || at > 378); tries += 1) {
      await view.page.evaluate(() => new Promise(requestAnimationFrame));
      at = await top();
    }
    assert.ok(at >= 0 && at <= 378, `the field is at ${at} px of a view of 400 px`);
    return at;
  };
  const topOf = async (name: RegExp): Promise<number> => (await row(name).boundingBox())?.y ?? -1;

  for (const way of ['keyboard', 'mouse'] as const) {
    const start = async (what: 'newTask' | 'newEpic'): Promise<void> => {
      if (way === 'mouse') await view.host.do(what);
      else await press(what === 'newTask' ? 'Alt+Shift+N' : 'Alt+Shift+P');
    };

    test(`a new task's field is right below the selected row of 300, with the ${way}`, async () => {
      await open();
      await row(/^Epic number 0/).click();
      await start('newTask');
      assert.equal(await fieldInSight(), (await topOf(/^Epic number 0/)) + 22);
      await view.page.keyboard.type('First of all');
      await press('Enter');
      assert.deepEqual(await view.host.waitFor('task.add'), {
        title: 'First of all',
        epic: 'epic-0',
      });
      const place = { epic: 'epic-0', parent: null, before: 'task-0' };
      assert.deepEqual(await view.host.waitFor('task.move'), { ids: ['fresh'], ...place });
      await row(/^Task number 4 /).click();
      await start('newTask');
      assert.equal(await fieldInSight(), (await topOf(/^Task number 4 /)) + 22);
      await press('Escape');
      await press('End');
      await row(/^Task number 299/).waitFor();
      await start('newTask');
      await fieldInSight();
      await view.page.keyboard.type('Last of all');
      await press('Enter');
      const last = await view.host.waitFor('task.add', 1);
      assert.deepEqual(last, { title: 'Last of all', epic: 'epic-2' });
      await view.host.until('it is chosen', () => view.host.of('task.add').length === 2);
      assert.equal(view.host.of('task.move').length, 1);
      await view.close();
    });

    test(`a new epic's field is in sight below 300 rows, with the ${way}`, async () => {
      await open();
      await row(/^Task number 3 /).click();
      await start('newEpic');
      await fieldInSight();
      await view.page.keyboard.type('Another');
      await press('Enter');
      assert.deepEqual(await view.host.waitFor('epic.add'), { title: 'Another' });
      await view.close();
    });
  }

  test('a field that is scrolled out of sight keeps its text and the keyboard', async () => {
    await open();
    await row(/^Epic number 0/).click();
    await press('Alt+Shift+N');
    await view.page.keyboard.type('Written');
    await row(/^Task number 3 /).hover();
    await view.page.mouse.wheel(0, 3_000);
    await row(/^Task number 140\b/).waitFor();
    await view.page.keyboard.type(' on');
    await press('Enter');
    assert.deepEqual(await view.host.waitFor('task.add'), { title: 'Written on', epic: 'epic-0' });
    await view.close();
  });

  test('the keyboard is on the rows after the first epic of an empty plan', async () => {
    const empty = boardOf([]);
    await open(empty);
    await view.page.getByRole('button', { name: 'New Epic' }).click();
    await view.page.locator('input.text:focus').waitFor();
    await view.page.keyboard.type('The first');
    await press('Enter');
    await view.host.waitFor('epic.add');
    await view.host.pushState({
      ...view.host.state,
      board: boardOf([], [['epic-x', 'The first']]),
    });
    await row(/^The first/).waitFor();
    await press('F2');
    await view.page.locator('input.text:focus').waitFor();
    await view.close();
  });

  test("a new task's field begins where the titles beside it do", async () => {
    await open(boardOf(numbered([{ id: 'a', title: 'A task', epic_id: 'e' }]), [['e', 'An epic']]));
    await row(/^A task/).click();
    await press('Alt+Shift+N');
    const field = await view.page.locator('input.text:focus').boundingBox();
    const title = await row(/^A task/)
      .locator('.title')
      .boundingBox();
    const off = Math.abs((field?.x ?? 0) - (title?.x ?? 100));
    assert.ok(off <= 6, `the field is ${off} px off`);
    await screenshot(view.page, 'tree-field');
    await view.close();
  });

  test('an error goes with Escape, with its button, and after a while', async () => {
    await open(smallBoard());
    await view.page.clock.install();
    view.host.backend('task.remove', () => {
      throw new Error('It has been worked on.');
    });
    const alert = view.page.getByRole('alert').filter({ hasText: 'worked on' });
    const fail = async (): Promise<void> => {
      await row(/^Write the parser/).click();
      await press('Delete');
      await alert.waitFor();
    };
    await fail();
    await press('Escape');
    await alert.waitFor({ state: 'detached' });
    await fail();
    await view.page.getByRole('button', { name: 'Close' }).click();
    await alert.waitFor({ state: 'detached' });
    await fail();
    await view.page.clock.runFor(31_000);
    await alert.waitFor({ state: 'detached' });
    await view.close();
  });
});
