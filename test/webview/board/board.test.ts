// The board alone in Chromium: columns, the graph by mouse and by keyboard, and that ten thousand tasks are no burden.

import assert from 'node:assert/strict';
import type { StatusSnapshot, TaskView } from '../../../server/protocol/views.ts';
import { runLines } from '../../doubles/reports.ts';
import { checkAxe } from '../support/axe.ts';
import { boardOf, largeBoard, numbered, smallBoard } from '../support/boards.ts';
import { stateThemes } from '../support/themes.ts';
import { openWebview, screenshot, type OpenWebview } from '../support/webview-page.ts';

/** Of the page: the picture of the graph is moved or scaled otherwise. */
function layerTransform(): string {
  const board = document.querySelector('drover-board')?.shadowRoot;
  const graph = board?.querySelector('drover-graph')?.shadowRoot;
  return graph?.querySelector<HTMLElement>('.layer')?.style.transform ?? '';
}

function nextFrame(): Promise<void> {
  return new Promise((done) => requestAnimationFrame(() => done()));
}

suite('webview: board', () => {
  let view: OpenWebview;

  const option = (name: string | RegExp): ReturnType<typeof view.page.getByRole> =>
    view.page.getByRole('option', { name });
  const press = (key: string): Promise<void> => view.page.keyboard.press(key);
  const open = async (
    mode: 'kanban' | 'graph',
    board: StatusSnapshot = smallBoard(),
    epic: string | null = null,
  ): Promise<void> => {
    view = await openWebview('board', {
      state: { board, subject: { id: epic, attempt: null } },
      memory: { mode },
    });
    view.host.backend('task.edit', ({ id }) => taskOf(board, id));
    await view.page.locator('.card, .node').first().waitFor();
    // A graph learns its size, and is fitted to it, in the frame after its first.
    await view.page.evaluate(nextFrame);
    await view.page.evaluate(nextFrame);
  };
  const taskOf = (board: StatusSnapshot, id: string): TaskView =>
    board.tasks.find((task) => task.id === id) as TaskView;
  const middleOf = async (selector: string): Promise<readonly [number, number]> => {
    const box = await view.page.locator(selector).boundingBox();
    assert.ok(box !== null, selector);
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const drag = async (from: string, to: string): Promise<void> => {
    await view.page.mouse.move(...(await middleOf(`.node[data-id=${from}] .handle`)));
    await view.page.mouse.down();
    await view.page.mouse.move(...(await middleOf(`.node[data-id=${to}]`)), { steps: 5 });
  };

  for (const theme of stateThemes) {
    test(`the graph has no accessibility violation: ${theme}`, async () => {
      view = await openWebview('board', { theme, memory: { mode: 'graph' } });
      await option(/^Print the tree/).click();
      await screenshot(view.page, `board-graph-${theme.toLowerCase().replaceAll(' ', '-')}`);
      await checkAxe(view.page);
      await view.close();
    });
  }

  test('each task is in the column of its state', async () => {
    await open('kanban');
    const columns: readonly (readonly [string, readonly string[]])[] = [
      ['Waiting, 2', ['Check types', 'Draw icons']],
      ['Ready, 1', ['Write a README']],
      ['Working, 0', []],
      ['Needs you, 3', ['Print the tree', 'Serve over HTTP', 'Store on disk']],
      ['Done, 1', ['Write the parser']],
    ];
    for (const [name, titles] of columns) {
      const list = view.page.getByRole('listbox', { name, exact: true });
      assert.deepEqual(await list.locator('.title').allInnerTexts(), titles);
    }
    const asks = view.page.getByRole('listbox', { name: 'Needs you, 3', exact: true });
    const asking = asks.getByRole('option').filter({ hasText: 'asks you' });
    assert.match(
      await asking.innerText(),
      / · \d+ (?:s|min|h|d)\b/,
      'says for how long it has worked',
    );
    // The rest of a window 1,280 px wide beside VS Code's side bar.
    await view.page.setViewportSize({ width: 920, height: 700 });
    const widthOf = async (name: string): Promise<number> =>
      (await view.page.getByRole('listbox', { name, exact: true }).boundingBox())?.width ?? 0;
    assert.ok((await widthOf('Working, 0')) < 120, 'a column without tasks is as wide as its name');
    assert.ok((await widthOf('Done, 1')) > 170);
    const overflow = await view.page.evaluate(() => {
      const board = document.querySelector('drover-board')?.shadowRoot;
      const columns = board?.querySelector('drover-kanban')?.shadowRoot?.querySelector('.columns');
      return (columns?.scrollWidth ?? 0) - (columns?.clientWidth ?? -1);
    });
    assert.equal(overflow, 0);
    await screenshot(view.page, 'board-920');
    await view.close();
  });

  test('the slider shows earlier states, which are read-only', async () => {
    await open('kanban');
    const [fromMs, toMs] = [Date.UTC(2026, 0, 2, 3), Date.UTC(2026, 0, 2, 5)];
    view.host.backend('runs.list', () => ({
      ...runLines(1),
      runs: runLines(1).runs.map((run) => ({ ...run, started_at_ms: fromMs, ended_at_ms: toMs })),
    }));
    const asked: number[] = [];
    view.host.backend('past.status', (params) => {
      const atMs = 'at_ms' in params ? params.at_ms : assert.fail('no time');
      asked.push(atMs);
      const task = { id: 'old', title: atMs === toMs ? 'As it was last' : 'As it was first' };
      return { ...boardOf(numbered([task])), at_ms: atMs };
    });
    await view.page.getByRole('button', { name: 'History' }).click();
    await option(/^As it was last/).waitFor();
    const slider = view.page.getByRole('slider', { name: 'Moment' });
    assert.equal(await slider.getAttribute('max'), String(toMs));
    await slider.press('PageDown');
    await option(/^As it was first/).waitFor();
    assert.deepEqual(asked, [toMs, toMs - (toMs - fromMs) / 20]);
    await checkAxe(view.page);
    await view.page.getByRole('button', { name: 'Graph' }).click();
    await view.page.getByRole('option', { name: /^As it was first/ }).click();
    await view.page.getByRole('button', { name: 'History' }).click();
    await option(/^Print the tree/).waitFor();
    assert.equal(view.host.asked.filter(({ name }) => name === 'task.edit').length, 0);
    await view.close();
  });

  test('arrow keys move through cards and columns, and Enter opens the stream', async () => {
    await open('kanban');
    await view.page.getByRole('listbox', { name: /^Ready/ }).focus();
    await press('ArrowRight');
    await view.host.until('the card that asks is chosen', () => view.host.selection[0] === 'print');
    await press('ArrowDown');
    await view.host.until('the second card is chosen', () => view.host.selection[0] === 'serve');
    await press('Enter');
    assert.deepEqual(await view.host.waitFor('openStream'), { task: 'serve' });
    await view.close();
  });

  test('the first click in a scrolled column selects the card under the mouse', async () => {
    const tasks = Array.from({ length: 60 }, (_, index) => ({
      id: `t${index}`,
      title: `Task ${index}`,
    }));
    view = await openWebview('board', { state: { board: boardOf(numbered(tasks)) } });
    const list = view.page.getByRole('listbox', { name: 'Ready, 60' });
    await list.getByText('Task 0', { exact: true }).hover();
    await view.page.mouse.wheel(0, 2_000);
    const card = list.locator('[data-id=t20]');
    await card.waitFor();
    const box = await card.boundingBox();
    assert.ok(box !== null);
    await view.page.mouse.move(box.x + 40, box.y + 20);
    await view.page.mouse.down();
    await view.page.mouse.up();
    await view.host.until('the card is chosen', () => view.host.selection[0] === 't20');
    assert.deepEqual(await card.boundingBox(), box);
    await view.close();
  });

  test('all columns fit into a window of 1,000 px beside the side bar', async () => {
    const tasks = (['blocked', 'ready', 'in_progress', 'failed', 'completed'] as const).map(
      (status) => ({ id: status, title: `A task that is ${status}`, status }),
    );
    view = await openWebview('board', {
      state: { board: boardOf(numbered(tasks)) },
      viewport: { width: 640, height: 600 },
    });
    await view.page.getByText('A task that is ready').waitFor();
    const columns = view.page.locator('drover-column');
    assert.ok((await columns.count()) >= 5);
    const ends = await columns.evaluateAll((all) =>
      all.map((each) => each.getBoundingClientRect().right),
    );
    assert.ok(Math.max(...ends) <= 640, ends.join(' '));
    await screenshot(view.page, 'board-640');
    await checkAxe(view.page);
    await view.close();
  });

  test('a card moves to another column when its task changes', async () => {
    await open('kanban');
    const board = smallBoard();
    const task = { ...taskOf(board, 'print'), status: 'completed' as const };
    await view.host.pushChanges({
      after: board.seq,
      seq: board.seq + 1,
      tasks: [task],
      removed_tasks: [],
      epics: null,
      counts: board.counts,
      progress: board.progress,
      run: board.run,
      target: board.target,
      stuck: null,
      questions: [],
      holds: [],
      snapshot: null,
    });
    await view.page.getByRole('listbox', { name: 'Done, 2', exact: true }).waitFor();
    await view.page.getByRole('listbox', { name: 'Working, 0', exact: true }).waitFor();
    await view.close();
  });

  test('the graph names the blockers, and arrow keys follow them', async () => {
    await open('graph');
    await view.page.getByRole('listbox', { name: 'Dependencies' }).focus();
    await view.host.until('the first is chosen', () => view.host.selection[0] === 'parse');
    await press('ArrowRight');
    await press('ArrowRight');
    await view.host.until('the last is chosen', () => view.host.selection[0] === 'check');
    const label = await option(/^Check types/).getAttribute('aria-label');
    assert.equal(
      label,
      'Check types blocked. Blocked by Print the tree. Blocks nothing. On the critical path.',
    );
    await press('ArrowLeft');
    await view.host.until('back at its blocker', () => view.host.selection[0] === 'print');
    await view.close();
  });

  test('an edge is drawn from a handle to the task that must wait, and undone', async () => {
    await open('graph');
    await option(/^Write a README/).hover();
    await drag('readme', 'check');
    const hover = view.page.locator('[data-hover]');
    await hover.filter({ hasText: 'Check types waits for Write a README' }).waitFor();
    await screenshot(view.page, 'board-graph-drawing');
    await view.page.mouse.up();
    const added = { id: 'check', add_blockers: ['readme'] };
    assert.deepEqual(await view.host.waitFor('task.edit'), added);
    await view.page
      .getByText('Check types waits for Write a README')
      .waitFor({ state: 'attached' });
    await view.page.getByRole('listbox', { name: 'Dependencies' }).focus();
    await press('Control+z');
    const removed = { id: 'check', remove_blockers: ['readme'] };
    assert.deepEqual(await view.host.waitFor('task.edit', 1), removed);
    await view.close();
  });

  test('a loop is refused by name during the drag', async () => {
    await open('graph');
    await drag('check', 'parse');
    const hover = view.page.locator('[data-hover].error');
    await hover.waitFor();
    assert.match(
      await hover.innerText(),
      /Write the parser → Check types → Print the tree → Write/,
    );
    await view.page.mouse.up();
    await view.page.getByRole('alert').waitFor();
    assert.deepEqual(view.host.of('task.edit'), []);
    await view.close();
  });

  test('dependencies are added and removed with the keyboard', async () => {
    await open('graph');
    const answers = ['readme', 'print'];
    view.host.action('pick', () => ({ id: answers.shift() ?? null }));
    await option(/^Check types/).click();
    await press('b');
    const asked = (await view.host.waitFor('pick')) as { items: readonly { id: string }[] };
    const offered = asked.items.map(({ id }) => id);
    assert.deepEqual(offered, ['parse', 'serve', 'store', 'readme', 'icons']);
    const added = { id: 'check', add_blockers: ['readme'] };
    assert.deepEqual(await view.host.waitFor('task.edit'), added);
    await press('Delete');
    const removed = { id: 'check', remove_blockers: ['print'] };
    assert.deepEqual(await view.host.waitFor('task.edit', 1), removed);
    await view.close();
  });

  test('ten thousand tasks are shown at once in both modes', async () => {
    await open('kanban', largeBoard());
    assert.ok((await view.page.locator('.card').count()) < 400);
    await view.page.getByRole('button', { name: 'Graph' }).click();
    await option(/^Epic number 99 \d+\/\d+ completed/).waitFor();
    await screenshot(view.page, 'board-graph-large');
    await view.page.getByLabel('Epic', { exact: true }).selectOption('epic-7');
    await view.page.getByRole('option', { name: /^Task number 700 / }).waitFor();
    const measured = (await view.host.waitFor('measured')) as { name: string };
    assert.equal(measured.name, 'board.firstPaint');
    await view.close();
  });

  test('with many tasks, the graph shows each epic as one node, which opens as its own graph', async () => {
    const large = largeBoard(308);
    const tasks = large.tasks.map((task) =>
      task.id === 'task-150' ? { ...task, blocked_by: ['task-20', ...task.blocked_by] } : task,
    );
    await open('graph', { ...large, tasks });
    await view.page.getByText('Each epic is one node', { exact: false }).waitFor();
    const epic = option(/^Epic number 1 /);
    const label = (await epic.getAttribute('aria-label')) ?? '';
    assert.match(
      label,
      /^Epic number 1 \d+\/90 completed · failed\. Blocked by Epic number 0\. Blocks nothing\.$/u,
    );
    assert.equal(await view.page.locator('.node').count(), 4);
    assert.equal(await view.page.locator('.node .handle').count(), 0);
    await screenshot(view.page, 'board-graph-epics');
    await epic.click();
    await view.host.until('the epic is selected', () => view.host.selection[0] === 'epic-1');
    await press('b');
    await press('Delete');
    assert.deepEqual(view.host.of('task.edit'), []);
    await press('Enter');
    await option(/^Task number 100 /).waitFor();
    await view.close();
  });

  test('the graph is zoomed and moved with keys and the wheel, and shown as a whole again', async () => {
    await open('graph');
    const transform = (): Promise<string> => view.page.evaluate(layerTransform);
    const settled = async (isRight: (now: string) => boolean): Promise<void> => {
      for (let now = await transform(); !isRight(now); now = await transform()) {
        await view.page.evaluate(nextFrame);
      }
    };
    await view.page.getByRole('listbox', { name: 'Dependencies' }).focus();
    const whole = await transform();
    await press('+');
    await settled((now) => now !== whole);
    const near = await transform();
    await press('Shift+ArrowRight');
    await settled((now) => now !== near);
    await press('f');
    await settled((now) => now === whole);
    await view.page.mouse.move(600, 400);
    await view.page.mouse.wheel(0, 60);
    await settled((now) => now !== whole);
    await view.close();
  });
});
