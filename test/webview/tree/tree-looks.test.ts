// Rows of the tree in every theme and width: shares, counts, whole facts, and items that wait for a
// person.

import assert from 'node:assert/strict';
import { runView } from '../../doubles/views.ts';
import { checkAxe } from '../support/axe.ts';
import { boardOf, largeBoard, numbered, smallBoard } from '../support/boards.ts';
import { pixelsOf } from '../support/pixels.ts';
import { stateThemes } from '../support/themes.ts';
import { openWebview, screenshot, type OpenWebview } from '../support/webview-page.ts';

suite('webview: appearance of the tree', () => {
  let view: OpenWebview;
  const row = (name: string | RegExp): ReturnType<typeof view.page.getByRole> =>
    view.page.getByRole('treeitem', { name });

  test('the rows stay while the connection is restored', async () => {
    view = await openWebview('tree', { state: { board: smallBoard() } });
    await row(/^Write the parser/).waitFor();
    await view.host.pushState({ connection: { kind: 'connecting' } });
    await view.page.getByText('Reconnecting …').waitFor();
    assert.equal(await row(/^Write the parser/).isVisible(), true);
    await view.close();
  });

  test('a waiting task names the task that it waits for, and counts the others', async () => {
    const blocked = { epic_id: 'e', status: 'blocked' } as const;
    const tasks = numbered([
      { id: 'a', title: 'Write the store', epic_id: 'e' },
      { id: 'b', title: 'Write the help', ...blocked, blocked_by: ['a'], waits_for: ['a'] },
      { id: 'c', title: 'Write it all', ...blocked, blocked_by: ['a', 'b'], waits_for: ['a', 'b'] },
    ]);
    const viewport = { width: 420, height: 400 };
    view = await openWebview('tree', {
      state: { board: boardOf(tasks, [['e', 'Shop']]) },
      viewport,
    });
    await row(/^Write the help blocked · after “Write the store”/).waitFor();
    await row(/^Write it all blocked · after “Write the store” and 1 more/).waitFor();
    await screenshot(view.page, 'tree-after');
    await view.close();
  });

  test('a plan that has not run yet has the button that runs it', async () => {
    const tasks = numbered([{ id: 'a', title: 'Write the store', epic_id: 'e' }]);
    const board = boardOf(tasks, [['e', 'Shop']]);
    view = await openWebview('tree', { state: { board: { ...board, run: null } } });
    view.host.action('runEpic', () => ({}));
    await view.page.getByRole('button', { name: 'Run the Epic' }).click();
    assert.deepEqual(await view.host.waitFor('runEpic'), { epic: 'e' });
    await screenshot(view.page, 'tree-first-run');
    await view.host.pushState({ ...view.host.state, board: { ...board, run: runView({}) } });
    await view.page.locator('[data-first-run]').waitFor({ state: 'detached' });
    const loose = boardOf(numbered([{ id: 'b', title: 'Alone' }]), []);
    await view.host.pushState({ ...view.host.state, board: { ...loose, run: null } });
    await view.page.getByRole('button', { name: 'Run All Tasks' }).waitFor();
    await view.close();
  });

  test('an epic that waits for a review shows that visually, to screen readers and in the menu', async () => {
    const small = smallBoard();
    const epics = small.epics.map((epic) =>
      epic.id === 'server' ? { ...epic, landing_state: 'needs_review' } : epic,
    );
    view = await openWebview('tree', { state: { board: { ...small, epics } } });
    const epic = row('A server 0/2 completed, needs your review, 3 wait for you, epic');
    await epic.waitFor();
    const context = JSON.parse((await epic.getAttribute('data-vscode-context')) ?? '') as object;
    assert.deepEqual(
      Object.entries(context).filter(([key]) => key === 'status'),
      [['status', 'needs_review']],
    );
    await view.close();
  });

  test('the selection and the scroll position survive a reload of the window', async () => {
    view = await openWebview('tree', { state: { board: largeBoard(300) } });
    await row(/^Task number 0,/).waitFor();
    await view.page.mouse.move(100, 300);
    await view.page.mouse.wheel(0, 2_000);
    await row(/^Task number 90\b/).click();
    await row(/^Task number 92\b/).click({ modifiers: ['Control'] });
    await view.page.mouse.wheel(0, 2_200);
    await row(/^Task number 190\b/).waitFor();
    const top = async (): Promise<number> =>
      await view.page.locator('.rows').evaluate((rows) => rows.scrollTop);
    const kept = (): unknown => (view.memory() as { readonly top: string | null }).top;
    await view.host.until('the place is kept', () => /task-1\d\d$/u.test(String(kept())));
    const placePx = await top();
    assert.ok(placePx > 4_000, `${placePx} px`);
    await view.reload();
    await row(/^Task number 190\b/).waitFor();
    assert.ok(Math.abs((await top()) - placePx) < 22, `${await top()} px, before: ${placePx} px`);
    // Further than before, so that the rows are in sight and not at the edge.
    await view.page.mouse.move(100, 301);
    await view.page.mouse.wheel(0, -2_400);
    for (const [name, isSelected] of [
      [/^Task number 90\b/, 'true'],
      [/^Task number 91\b/, 'false'],
      [/^Task number 92\b/, 'true'],
    ] as const) {
      await row(name).waitFor();
      assert.equal(await row(name).getAttribute('aria-selected'), isSelected);
    }
    await view.close();
  });

  for (const theme of stateThemes) {
    test(`a selected row of finished work is readable, even without the focus: ${theme}`, async () => {
      const board = smallBoard();
      const done = board.tasks.find(({ status }) => status === 'completed');
      view = await openWebview('tree', { theme, state: { board } });
      await row(new RegExp(`^${done?.title}`, 'u')).click();
      await view.page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await checkAxe(view.page);
      await view.close();
    });
  }

  test('candidates are rows below their task', async () => {
    const green = { status: 'needs_review', review_kind: 'candidate', candidate_of: 'a' } as const;
    const tasks = numbered([
      { id: 'a', title: 'Sort prices', status: 'blocked', waits_for: ['a-c1', 'a-c2'] },
      {
        id: 'a-c1',
        ...green,
        candidate: { number: 1, added_lines: 12, removed_lines: 3 },
        cost: 0.01,
      },
      { id: 'a-c2', ...green, candidate: { number: 2, added_lines: 4, removed_lines: 0 } },
    ]);
    view = await openWebview('tree', { state: { board: boardOf(tasks, []) } });
    await row(/^Sort prices 2 candidates/).waitFor();
    const first = row('Candidate 1 +12 −3 · green · $0.01');
    assert.equal(await first.getAttribute('aria-level'), '2');
    await screenshot(view.page, 'tree-candidates');
    await view.close();
  });

  test('B24: an epic without a task is labeled empty', async () => {
    const tasks = numbered([{ id: 'one', title: 'Alone', epic_id: 'one-epic' }]);
    const board = boardOf(tasks, [
      ['one-epic', 'Of one'],
      ['none', 'Receipts'],
    ]);
    view = await openWebview('tree', { state: { board } });
    await row('Receipts empty, epic').waitFor();
    await row(/^Of one 0\/1 completed, /u).waitFor();
    await view.close();
  });

  for (const theme of stateThemes) {
    test(`a bar shows its share: ${theme}`, async () => {
      const tasks = [1, 2].map((n) => ({ id: `t${n}`, title: `Task ${n}`, epic_id: 'half' }));
      const [first, ...others] = numbered(tasks);
      assert.ok(first !== undefined);
      const board = boardOf(
        [{ ...first, status: 'completed' }, ...others],
        [
          ['half', 'Half done'],
          ['none', 'Another'],
        ],
      );
      view = await openWebview('tree', { theme, state: { board } });
      await row(/^Half done/).waitFor();
      const bar = view.page.locator('.progress').first();
      const shades = async (): Promise<readonly [number, number]> => {
        const { data, width } = await pixelsOf(await bar.screenshot());
        const shade = (part: number): number => {
          const at = 4 * (width * 2 + Math.floor(width * part));
          return (data[at] ?? 0) * 0.3 + (data[at + 1] ?? 0) * 0.6 + (data[at + 2] ?? 0) * 0.1;
        };
        return [shade(0.25), shade(0.75)];
      };
      const apart = async (): Promise<number> => {
        const [done, left] = await shades();
        return Math.abs(done - left);
      };
      assert.ok((await apart()) > 25, `${await apart()} of 255`);
      await row(/^Half done/).click();
      assert.ok((await apart()) > 25, `chosen: ${await apart()} of 255`);
      await view.close();
    });
  }

  test("facts are shown completely or not at all, and an epic's count always", async () => {
    const board = boardOf(
      numbered([
        {
          id: 'long',
          title: 'Describe the shop in the README so that a newcomer knows it',
          epic_id: 'e',
          status: 'in_progress',
          phase: 'agent',
          agent: 'claude',
          attempts: 1,
          started_at: 1_700_000_000,
        },
      ]),
      [['e', 'An epic with a title that is much longer than the side bar is wide']],
    );
    view = await openWebview('tree', {
      state: { board },
      viewport: { width: 220, height: 300 },
    });
    await row(/^Describe/).waitFor();
    const cut = await view.page.locator('.facts').evaluateAll((all) =>
      all.flatMap((facts) => {
        const { top, bottom, left, right } = facts.getBoundingClientRect();
        return [...facts.querySelectorAll('span')].flatMap((fact) => {
          const box = fact.getBoundingClientRect();
          const isSeen = box.width > 0 && box.top < bottom && box.bottom > top;
          return isSeen && (box.left < left - 1 || box.right > right + 1) ? [fact.textContent] : [];
        });
      }),
    );
    assert.deepEqual(cut, []);
    const count = await view.page.locator('.facts.count').boundingBox();
    assert.ok(
      count !== null && count.width > 15 && count.x + count.width < 220,
      'the count is seen',
    );
    await screenshot(view.page, 'tree-narrow');
    await view.close();
  });
});
