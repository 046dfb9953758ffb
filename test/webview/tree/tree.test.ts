// The task tree alone in Chromium: the effects of mouse and keyboard on the plan, and that ten
// thousand tasks are no burden.

import assert from 'node:assert/strict';
import type { EpicView, TaskView } from '../../../server/protocol/views.ts';
import { largeBoard, smallBoard } from '../support/boards.ts';
import { checkAxe } from '../support/axe.ts';
import { stateThemes } from '../support/themes.ts';
import { openWebview, screenshot, type OpenWebview } from '../support/webview-page.ts';

suite('webview: tree', () => {
  let view: OpenWebview;

  const row = (name: string | RegExp): ReturnType<typeof view.page.getByRole> =>
    view.page.getByRole('treeitem', { name });
  const press = (key: string): Promise<void> => view.page.keyboard.press(key);
  const active = (): Promise<string | null> =>
    view.page.evaluate(() => {
      const root = document.querySelector('drover-tree')?.shadowRoot;
      const id = root?.querySelector('[role=tree]')?.getAttribute('aria-activedescendant') ?? '';
      return root?.getElementById(id)?.getAttribute('aria-label') ?? null;
    });
  const open = async (board = smallBoard()): Promise<void> => {
    view = await openWebview('tree', { state: { board } });
    view.host.backend('task.move', () => []);
    view.host.backend('task.edit', ({ id }) => taskOf(id));
    view.host.backend('task.remove', ({ ids }) => ({ removed: ids }));
    view.host.backend('task.add', () => ({ ...taskOf('readme'), id: 'fresh' }));
    view.host.backend('epic.add', () => ({ ...(smallBoard().epics[0] as EpicView), id: 'epic-x' }));
    await row(/^Write the parser/).waitFor();
  };
  const taskOf = (id: string): TaskView =>
    smallBoard().tasks.find((task) => task.id === id) as TaskView;

  for (const theme of stateThemes) {
    test(`it shows epics, tasks and sub-tasks: ${theme}`, async () => {
      view = await openWebview('tree', { theme, state: { board: smallBoard() } });
      await row(/^Print the tree asks you/).waitFor();
      assert.equal(await row(/^Break wide lines/).getAttribute('aria-level'), '3');
      assert.equal(await row(/^A language/).getAttribute('aria-setsize'), '3');
      await row(/^Print the tree/).click();
      await screenshot(view.page, `tree-${theme.toLowerCase().replaceAll(' ', '-')}`);
      await checkAxe(view.page);
      await view.close();
    });
  }

  test('the keyboard reaches everything and the focus is visible', async () => {
    await open();
    await view.page.getByRole('tree').focus();
    const steps: readonly (readonly [string, string])[] = [
      ['ArrowDown', 'Write the parser, completed'],
      ['ArrowDown', 'Print the tree asks you'],
      ['ArrowLeft', 'Print the tree asks you'],
      ['ArrowDown', 'Check types blocked · after “Print the tree”'],
      ['ArrowUp', 'Print the tree asks you'],
      ['ArrowRight', 'Print the tree asks you'],
      ['ArrowRight', 'Break wide lines, ready'],
      ['ArrowLeft', 'Print the tree asks you'],
      ['End', 'Draw icons paused'],
      ['Home', 'A language 1/3 completed, 2 wait for you, epic'],
      ['w', 'Write the parser, completed'],
    ];
    for (const [key, label] of steps) {
      await press(key);
      assert.ok((await active())?.startsWith(label) === true, `${key}: ${await active()}`);
    }
    await press('Enter');
    assert.deepEqual(await view.host.waitFor('openStream'), { task: 'parse' });
    await press('Control+Enter');
    assert.deepEqual(await view.host.waitFor('runEpic'), { epic: 'syntax' });
    await view.close();
  });

  test("an epic's button runs it, and does not change the selection", async () => {
    await open();
    await row(/^Check types/).click();
    await view.host.until('a row is selected', () => view.host.selection.length > 0);
    const before = view.host.selection;
    await row(/^A server/).hover();
    await view.page.getByRole('button', { name: 'Run epic A server' }).click();
    assert.deepEqual(await view.host.waitFor('runEpic'), { epic: 'server' });
    await view.page.keyboard.press('Enter');
    assert.deepEqual(await view.host.waitFor('openStream'), { task: before[0] });
    assert.deepEqual(view.host.selection, before);
    await view.close();
  });

  test("a single click shows a task's page without moving the focus, and a double click opens it", async () => {
    await open();
    await row(/^A server/).click();
    await row(/^Check types/).click({ modifiers: ['Control'] });
    await row(/^Write a README/).click({ modifiers: ['Shift'] });
    await row(/^Check types/).click();
    assert.deepEqual(await view.host.waitFor('previewTask'), { task: 'check' });
    await row(/^Draw icons/).dblclick();
    assert.deepEqual(await view.host.waitFor('openStream'), { task: 'icons' });
    const shown = view.host.of('previewTask').map(({ params }) => params);
    assert.deepEqual(shown, [{ task: 'check' }, { task: 'icons' }]);
    await view.close();
  });

  test('rows are added, renamed and removed with the keyboard, and undone', async () => {
    await open();
    await row(/^Serve over HTTP/).click();
    await press('Alt+Shift+N');
    await view.page.keyboard.type('A new one');
    await press('Enter');
    assert.deepEqual(await view.host.waitFor('task.add'), { title: 'A new one', epic: 'server' });
    await press('Control+z');
    assert.deepEqual(await view.host.waitFor('task.remove'), { ids: ['fresh'] });
    await row(/^Write a README/).click();
    await press('F2');
    await view.page.keyboard.type('Write the README');
    await press('Enter');
    assert.deepEqual(await view.host.waitFor('task.edit'), {
      id: 'readme',
      title: 'Write the README',
    });
    await press('Alt+Shift+P');
    await view.page.keyboard.type('Another');
    await press('Enter');
    assert.deepEqual(await view.host.waitFor('epic.add'), { title: 'Another' });
    await view.close();
  });

  test('the first click after scrolling with the wheel selects the row under the mouse', async () => {
    view = await openWebview('tree', { state: { board: largeBoard(300) } });
    await row(/^Task number 0,/).waitFor();
    await view.page.mouse.move(100, 300);
    await view.page.mouse.wheel(0, 2_000);
    const target = row(/^Task number 90\b/);
    await target.waitFor();
    const box = await target.boundingBox();
    assert.ok(box !== null);
    await view.page.mouse.move(box.x + 60, box.y + 11);
    await view.page.mouse.down();
    await view.page.mouse.up();
    await view.host.until('the row is chosen', () => view.host.selection.includes('task-90'));
    assert.deepEqual(await target.boundingBox(), box);
    assert.equal(await target.getAttribute('aria-selected'), 'true');
    await view.close();
  });

  test('the keyboard starts with the first visible row', async () => {
    view = await openWebview('tree', { state: { board: largeBoard(300) } });
    await row(/^Task number 0,/).waitFor();
    await view.page.mouse.move(100, 300);
    await view.page.mouse.wheel(0, 22 * 50);
    await row(/^Task number 60\b/).waitFor();
    await view.page.getByRole('tree').focus();
    await view.host.until('a row is chosen', () => view.host.selection.includes('task-49'));
    await view.close();
  });

  test('a removal is undone, and an epic moves among epics', async () => {
    await open();
    view.host.backend('plan.restore', ({ ids }) => ({ restored: ids }));
    view.host.backend('epic.move', ({ id }) => ({ id }));
    await row(/^Write a README/).click();
    await press('Delete');
    assert.deepEqual(await view.host.waitFor('task.remove'), { ids: ['readme'] });
    await press('Control+z');
    assert.deepEqual(await view.host.waitFor('plan.restore'), { ids: ['readme'] });
    await row(/^A server/).click();
    await press('Alt+ArrowUp');
    assert.deepEqual(await view.host.waitFor('epic.move'), { id: 'server', before: 'syntax' });
    await press('Control+z');
    assert.deepEqual(await view.host.waitFor('epic.move', 1), { id: 'server', before: null });
    await view.host.do('moveDown', ['syntax']);
    assert.deepEqual(await view.host.waitFor('epic.move', 2), { id: 'syntax', before: null });
    await view.close();
  });

  test('typed text is kept if the user clicks elsewhere, and that click counts', async () => {
    await open();
    await row(/^Serve over HTTP/).click();
    await press('Alt+Shift+N');
    await view.page.keyboard.type('Log requests');
    await row(/^Write a README/).click();
    assert.deepEqual(await view.host.waitFor('task.add'), {
      title: 'Log requests',
      epic: 'server',
    });
    await view.host.until('the click counts', () => view.host.selection.includes('readme'));
    await press('F2');
    await view.page.keyboard.type('Never written');
    await press('Escape');
    await press('F2');
    await view.page.keyboard.type('Write the README');
    await row(/^Draw icons/).click();
    const renamed = { id: 'readme', title: 'Write the README' };
    assert.deepEqual(await view.host.waitFor('task.edit'), renamed);
    assert.equal(view.host.of('task.edit').length, 1);
    await view.close();
  });

  test('every drag has a key: up, down, into and out of an epic, and wait for another task', async () => {
    await open();
    await row(/^Check types/).click();
    await press('Alt+ArrowUp');
    assert.deepEqual(await view.host.waitFor('task.move'), {
      ids: ['check'],
      epic: 'syntax',
      parent: null,
      before: 'print',
    });
    await press('Alt+Shift+ArrowLeft');
    assert.deepEqual(await view.host.waitFor('task.move', 1), {
      ids: ['check'],
      epic: null,
      parent: null,
      before: null,
    });
    view.host.action('pick', ({ items }) => ({
      id: items.find((item) => item.label === 'A server')?.id ?? null,
    }));
    await press('Alt+Shift+M');
    assert.deepEqual(await view.host.waitFor('task.move', 2), {
      ids: ['check'],
      epic: 'server',
      parent: null,
      before: null,
    });
    view.host.action('pick', () => ({ id: 'readme' }));
    await press('Alt+Shift+B');
    assert.deepEqual(await view.host.waitFor('task.edit'), {
      id: 'check',
      add_blockers: ['readme'],
    });
    await view.close();
  });

  test('the mouse drags tasks into an epic, between other tasks, and onto a task to wait for it', async () => {
    await open();
    await row(/^Write a README/).click();
    await row(/^Draw icons/).click({ modifiers: ['Control'] });
    await row(/^Write a README/).dragTo(row(/^A server/));
    assert.deepEqual(await view.host.waitFor('task.move'), {
      ids: ['readme', 'icons'],
      epic: 'server',
      parent: null,
      before: null,
    });
    await row(/^Write a README/).click();
    await row(/^Write a README/).dragTo(row(/^Store on disk/), {
      targetPosition: { x: 60, y: 3 },
    });
    assert.deepEqual(await view.host.waitFor('task.move', 1), {
      ids: ['readme'],
      epic: 'server',
      parent: null,
      before: 'store',
    });
    await view.page.keyboard.down('Control');
    await row(/^Write a README/).dragTo(row(/^Check types/));
    await view.page.keyboard.up('Control');
    assert.deepEqual(await view.host.waitFor('task.edit'), {
      id: 'readme',
      add_blockers: ['check'],
    });
    await view.close();
  });

  test('a loop is refused by name while the mouse is still over it', async () => {
    await open();
    const from = await row(/^Write the parser/).boundingBox();
    const to = await row(/^Check types/).boundingBox();
    assert.ok(from !== null && to !== null);
    await view.page.keyboard.down('Control');
    await view.page.mouse.move(from.x + 60, from.y + 11);
    await view.page.mouse.down();
    await view.page.mouse.move(from.x + 60, from.y + 20, { steps: 3 });
    await view.page.mouse.move(to.x + 60, to.y + 11, { steps: 5 });
    await view.page.mouse.move(to.x + 61, to.y + 12);
    await view.page.getByText(/wait for each other: .*Check types/).waitFor();
    await screenshot(view.page, 'tree-cycle');
    await view.page.mouse.up();
    await view.page.keyboard.up('Control');
    assert.equal(view.host.of('task.edit').length, 0);
    await view.close();
  });

  test('a refusal by the backend is shown, and nothing is changed', async () => {
    await open();
    view.host.backend('task.remove', () => {
      throw new Error('parse has been worked on; cancel it instead');
    });
    await row(/^Write the parser/).click();
    await press('Delete');
    await view.page.getByRole('alert').filter({ hasText: 'cancel it instead' }).waitFor();
    await view.close();
  });

  test('a removal offers to drop the dependencies of remaining tasks, by their titles', async () => {
    const board = smallBoard();
    const tasks = board.tasks.map((task) =>
      task.id === 'serve' ? { ...task, blocked_by: ['icons'] } : task,
    );
    await open({ ...board, tasks });
    let answer: string | null = null;
    view.host.action('notify', () => ({ button: answer }));
    const removed = (): readonly unknown[] =>
      view.host.of('task.remove').map(({ params }) => params);
    await row(/^Write a README/).click();
    await press('Delete');
    await view.host.until('it is removed unasked', () => removed()[0]);
    await row(/^Draw icons/).click();
    await press('Delete');
    const asked = await view.host.until('the person is asked', () => view.host.of('notify')[0]);
    assert.match(JSON.stringify(asked.params), /waits for “Draw icons”.*Drop 1 Dependency/u);
    answer = 'Remove and Drop 1 Dependency';
    await press('Delete');
    await view.host.until('it is removed', () => removed()[1]);
    assert.equal(removed().length, 2, 'not before the person has agreed');
    await view.close();
  });

  test('it filters by text and by state, and keeps both over a reload', async () => {
    await open();
    await row(/^Check types/).click();
    await press('Control+f');
    await view.page.getByLabel('Filter tasks').fill('wide');
    await row(/^Break wide lines/).waitFor();
    assert.equal(await view.page.getByRole('treeitem').count(), 3);
    await view.reload();
    await row(/^Break wide lines/).waitFor();
    assert.equal(await view.page.getByRole('treeitem').count(), 3);
    await view.close();
  });

  test('with ten thousand tasks, only the visible ones are on the page', async () => {
    view = await openWebview('tree', { state: { board: largeBoard(10_000) } });
    await view.page.getByRole('treeitem').first().waitFor();
    const count = await view.page.getByRole('treeitem').count();
    assert.ok(count < 100, `${count} rows are on the page`);
    await view.page.getByRole('tree').focus();
    await press('End');
    await view.page.locator('.row.active').waitFor();
    const told = await view.host.until(
      'the first paint is measured',
      () =>
        view.host
          .of('measured')
          .map(({ params }) => params as { name: string; ms: number })
          .find(({ name }) => name === 'tree.firstPaint') ?? null,
    );
    assert.ok(told.ms > 0);
    await view.close();
  });

  test('it shows why nothing new starts, as long as that applies', async () => {
    view = await openWebview('tree');
    await view.page.getByRole('treeitem').first().waitFor();
    const reason = 'Claude has reached its limit; it goes on at 17:00.';
    const held = { scope: 'agent/claude', line: null, reason, since: 1_700_000_000, until: null };
    const board = smallBoard();
    const { seq, counts, progress, run, target, questions } = board;
    const none = { tasks: [], removed_tasks: [], epics: null, stuck: null, snapshot: null };
    const changes = { ...none, counts, progress, run, target, questions };
    await view.host.pushChanges({ ...changes, after: seq, seq: seq + 1, holds: [held] });
    await view.page.locator('[data-holds]', { hasText: reason }).waitFor();
    await checkAxe(view.page);
    await view.host.pushChanges({ ...changes, after: seq + 1, seq: seq + 2, holds: [] });
    await view.page.locator('[data-holds]').waitFor({ state: 'detached' });
    await view.close();
  });

  for (const [reason, command] of [
    ['no_git', 'drover.installGit'],
    ['untrusted', 'drover.trustWorkspace'],
    ['not_initialised', 'drover.initialise'],
  ] as const) {
    test(`it names the missing parts and the next step: ${reason}`, async () => {
      view = await openWebview('tree', {
        state: {
          board: null,
          connection: {
            kind: 'unavailable',
            reason,
            message: `This is ${reason}.`,
            action: { command, title: 'Help' },
          },
        },
      });
      await view.page.getByText(`This is ${reason}.`).waitFor();
      await view.page.getByRole('button', { name: 'Help' }).click();
      assert.deepEqual(await view.host.waitFor('command'), { id: command });
      await checkAxe(view.page);
      await view.close();
    });
  }
});
