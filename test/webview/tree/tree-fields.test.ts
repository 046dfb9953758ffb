// The field of a new task or epic in a plan that is longer than the view, by keyboard and by mouse.

import assert from 'node:assert/strict';
import type { EpicView } from '../../../server/protocol/views.ts';
import { taskView } from '../../doubles/views.ts';
import { boardOf, largeBoard, numbered, smallBoard } from '../support/boards.ts';
import { openWebview, screenshot, type OpenWebview } from '../support/webview-page.ts';

suite('webview: input fields of the tree', () => {
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

    test(`a new task's field is at the end of the selected epic or below the selected task, with the ${way}`, async () => {
      await open();
      await row(/^Epic number 0/).click();
      await start('newTask');
      await fieldInSight();
      await view.page.keyboard.type('Last of the epic');
      await press('Enter');
      assert.deepEqual(await view.host.waitFor('task.add'), {
        title: 'Last of the epic',
        epic: 'epic-0',
      });
      await press('Home');
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
      assert.deepEqual(view.host.of('task.move'), []);
      await view.close();
    });

    test(`a new epic's field is visible below 300 rows, with the ${way}`, async () => {
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

  /** A backend whose board has a new task only when the test says so. */
  const openSlow = async (): Promise<{ titles(): string[]; arrive(): Promise<void> }> => {
    const tasks = [taskView({ id: 'a', title: 'Old one', epic_id: 'e' })];
    const after = (): typeof tasks => tasks.map((task, at) => ({ ...task, position: at }));
    await open(boardOf(after(), [['e', 'An epic']]));
    view.host.backend('task.add', ({ title }) => {
      const added = taskView({ id: `new-${tasks.length}`, title, epic_id: 'e' });
      tasks.push(added);
      return added;
    });
    view.host.backend('task.move', ({ ids, before }) => {
      const moved = tasks.filter(({ id }) => ids.includes(id));
      for (const task of moved) tasks.splice(tasks.indexOf(task), 1);
      const at = tasks.findIndex(({ id }) => id === before);
      tasks.splice(at === -1 ? tasks.length : at, 0, ...moved);
      return moved;
    });
    return {
      titles: () => tasks.map(({ title }) => title),
      arrive: async () => {
        const board = boardOf(after(), [['e', 'An epic']]);
        await view.host.pushState({ ...view.host.state, board });
      },
    };
  };
  const write = async (title: string, count: number): Promise<void> => {
    await view.page.locator('input.text:focus').waitFor();
    await view.page.keyboard.type(title);
    await press('Enter');
    await view.host.until('it is sent', () => view.host.of('task.add').length === count);
  };

  for (const [place, name] of [
    ['an epic', /^An epic/],
    ['the first task', /^Old one/],
  ] as const) {
    test(`titles typed one after another with ${place} selected keep their order`, async () => {
      const backend = await openSlow();
      for (const [at, title] of ['One', 'Two', 'Three', 'Four'].entries()) {
        if (at === 0) await row(name).click();
        await press('Alt+Shift+N');
        await write(title, at + 1);
        if (at === 1) await backend.arrive();
      }
      await backend.arrive();
      assert.deepEqual(backend.titles(), ['Old one', 'One', 'Two', 'Three', 'Four']);
      await view.close();
    });
  }

  test("the button in an epic's row adds tasks at the end of that epic repeatedly", async () => {
    const backend = await openSlow();
    for (const [at, title] of ['One', 'Two', 'Three'].entries()) {
      await row(/^An epic/).hover();
      await view.page.getByRole('button', { name: 'New task in An epic' }).click();
      await write(title, at + 1);
      await backend.arrive();
    }
    assert.deepEqual(backend.titles(), ['Old one', 'One', 'Two', 'Three']);
    assert.deepEqual(view.host.of('runEpic'), []);
    await view.close();
  });

  test('a field that is scrolled out of sight keeps its text and the focus', async () => {
    await open();
    await row(/^Epic number 0/).click();
    await press('Alt+Shift+N');
    await view.page.keyboard.type('Written');
    await row(/^Task number 99 /).hover();
    await view.page.mouse.wheel(0, -3_000);
    await row(/^Task number 3 /).waitFor();
    await view.page.keyboard.type(' on');
    await press('Enter');
    assert.deepEqual(await view.host.waitFor('task.add'), { title: 'Written on', epic: 'epic-0' });
    await view.close();
  });

  test('the rows have the focus after the first epic of an empty plan was created', async () => {
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

  test("a new task's field starts at the same column as the titles beside it", async () => {
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

  test('an error disappears with Escape, with its button, and after a while', async () => {
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
