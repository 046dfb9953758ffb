// The harness itself: the wire, VS Code's styles, the policy, and that accessibility is really
// checked.

import assert from 'node:assert/strict';
import { axeViolations, checkAxe } from './support/axe.ts';
import { largeBoard } from './support/boards.ts';
import { Refusal } from './support/fake-host.ts';
import { themeNames } from './support/themes.ts';
import { type OpenWebview, openWebview } from './support/webview-page.ts';

const entry = 'test/webview/support/probe/main.ts';

suite('webview harness', () => {
  let view: OpenWebview;

  const shown = async (words: string): Promise<void> => {
    await view.page.getByText(words, { exact: true }).waitFor();
  };

  test('it answers requests, sends pushes, and keeps the memory over a reload', async () => {
    view = await openWebview('tree', {
      entry,
      memory: { visits: 0 },
      prepare: (host) => host.backend('why', () => ({ text: 'it waits' }) as never),
    });
    await shown('remembered {"visits":0}');
    await shown('9 tasks of tree');
    await shown('because it waits');
    assert.deepEqual(await view.host.waitFor('why'), { id: 'print' });
    assert.deepEqual(view.host.selection, ['parse']);
    assert.deepEqual(view.memory(), { visits: 1 });
    await view.host.pushState({ board: largeBoard() });
    await shown('10000 tasks of tree');
    await view.reload();
    await shown('remembered {"visits":1}');
    await shown('10000 tasks of tree');
    await view.close();
  });

  test('it refuses requests like the backend', async () => {
    view = await openWebview('tree', {
      entry,
      prepare: (host) =>
        host.backend('why', () => {
          throw new Refusal('not_found', 'There is no such task.');
        }),
    });
    await shown('Error: There is no such task.');
    await view.close();
  });

  test('it fails for requests without an answer', async () => {
    view = await openWebview('tree', { entry });
    await shown('Error: no why here');
    await assert.rejects(view.close(), /no answer for/);
  });

  test('it reports violations of the policy', async () => {
    view = await openWebview('tree', { entry });
    await shown('9 tasks of tree');
    await view.page.keyboard.press('b');
    await assert.rejects(view.close(), /style-src/);
  });

  for (const theme of themeNames) {
    test(`it looks like VS Code in ${theme}, and axe detects a button without a name`, async () => {
      view = await openWebview('tree', {
        entry,
        theme,
        prepare: (host) => host.backend('why', () => ({ text: 'it waits' }) as never),
      });
      await shown('because it waits');
      const kind = await view.page.evaluate(() => document.body.dataset['vscodeThemeKind']);
      assert.equal(kind?.includes('light'), theme.includes('Light'));
      assert.equal(kind?.includes('high-contrast'), theme.includes('Contrast'));
      await checkAxe(view.page);
      await view.page.keyboard.press('u');
      assert.match((await axeViolations(view.page)).join('\n'), /button-name/);
      await view.close();
    });
  }
});
