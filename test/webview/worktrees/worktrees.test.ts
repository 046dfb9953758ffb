// The worktrees alone in Chromium: what each takes, and the button that frees what may go.

import assert from 'node:assert/strict';
import { poolSizes, slotView } from '../../doubles/worktrees.ts';
import { checkAxe } from '../support/axe.ts';
import { smallBoard } from '../support/boards.ts';
import { Refusal } from '../support/fake-host.ts';
import { stateThemes } from '../support/themes.ts';
import { openWebview, screenshot, type OpenWebview } from '../support/webview-page.ts';

const pool = '/home/person/project.worktrees';

suite('webview: worktrees', () => {
  let view: OpenWebview;
  const button = (name: string | RegExp) => view.page.getByRole('button', { name });
  const open = async (options: Parameters<typeof openWebview>[1] = {}): Promise<void> => {
    view = await openWebview('worktrees', {
      state: { board: smallBoard() },
      ...options,
      prepare: (host) => {
        host.backend('worktree.sizes', () => poolSizes());
        options.prepare?.(host);
      },
    });
    await button('Free 2.3 GB…').waitFor();
  };

  for (const theme of stateThemes) {
    test(`each worktree is shown with its size, its task and the reason: ${theme}`, async () => {
      await open({ theme, viewport: { width: 900, height: 330 } });
      const rows = view.page.getByRole('list', { name: 'Worktrees' }).getByRole('listitem');
      assert.equal(await rows.count(), 5);
      const text = await rows.nth(2).innerText();
      assert.match(text, /slot-1\s+1000 MB\s+It stays: its task is running\.\s+Print the tree/u);
      await view.page.getByText('No task starts until there is room.').waitFor();
      await screenshot(view.page, `worktrees-${theme.toLowerCase().replaceAll(' ', '-')}`);
      await checkAxe(view.page);
      await view.close();
    });
  }

  test('with the keyboard, a confirmation lists the worktrees to remove, and a message lists what stayed', async () => {
    await open();
    view.host.backend('worktree.prune', ({ paths = [] }) =>
      paths.map((path) =>
        path.endsWith('3')
          ? slotView({ path, action: 'keep', reason: 'a task has just taken it' })
          : slotView({ path, action: 'removed', size_bytes: 1_500 * 1024 * 1024 }),
      ),
    );
    await button('Free 2.3 GB…').focus();
    await view.page.keyboard.press('Enter');
    const question = view.page.getByRole('region', { name: 'What goes' });
    assert.match(await question.innerText(), /2 worktrees go.*slot-4, 1\.5 GB\s+slot-3, 900 MB/su);
    await checkAxe(view.page);
    assert.equal(
      view.host.asked.some(({ name }) => name === 'worktree.prune'),
      false,
    );
    // The focus is on the answer already.
    await view.page.keyboard.press('Enter');
    assert.deepEqual(await view.host.waitFor('worktree.prune'), {
      paths: [`${pool}/slot-4`, `${pool}/slot-3`],
    });
    await view.page
      .getByRole('status')
      .getByText('1.5 GB are free again. slot-3 stays: a task has just taken it.')
      .waitFor();
    await view.close();
  });

  test('Escape sends no request, and the focus returns to the button', async () => {
    await open();
    await button('Free 2.3 GB…').click();
    await view.page.keyboard.press('Escape');
    await view.page.getByRole('region', { name: 'What goes' }).waitFor({ state: 'detached' });
    await view.page.locator('.free:focus').waitFor();
    assert.equal(
      view.host.asked.some(({ name }) => name === 'worktree.prune'),
      false,
    );
    await view.close();
  });

  test('a task opens its page', async () => {
    await open();
    view.host.action('openStream', () => ({}));
    await button('Print the tree').click();
    assert.deepEqual(await view.host.waitFor('openStream'), { task: 'print' });
    await view.close();
  });

  test('if nothing can be removed, no button is shown, and after a refusal the sizes are measured again', async () => {
    let isAway = true;
    view = await openWebview('worktrees', {
      state: { board: smallBoard() },
      prepare: (host) => {
        host.backend('worktree.sizes', () => {
          if (isAway) throw new Refusal('database', 'The database is away.');
          return { ...poolSizes(), worktrees: poolSizes().worktrees.slice(0, 2), frees_bytes: 0 };
        });
      },
    });
    await view.page.getByRole('alert').getByText('The database is away.').waitFor();
    isAway = false;
    await button('Measure Again').click();
    await view.page.getByText('slot-2').waitFor();
    assert.equal(await button(/^Free/u).count(), 0);
    await view.close();
  });

  test('on a phone, each word fits', async () => {
    await open({ viewport: { width: 390, height: 844 } });
    const widths = await view.page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.querySelector('drover-worktrees')?.scrollWidth ?? 0,
    ]);
    assert.ok(
      widths.every((width) => width <= 390),
      widths.join(' '),
    );
    await screenshot(view.page, 'worktrees-phone');
    await view.close();
  });
});
