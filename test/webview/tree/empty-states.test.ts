// A newcomer's view before the first row: Drover's purpose, the missing parts, and each way on.

import assert from 'node:assert/strict';
import type { HostState } from '../../../webview/messages/messages.ts';
import { unavailable, type UnavailableReason } from '../../../extension/project/unavailable.ts';
import { checkAxe } from '../support/axe.ts';
import { boardOf } from '../support/boards.ts';
import { openWebview, screenshot, type OpenWebview } from '../support/webview-page.ts';

const purpose = /^Describe the work; Drover runs agents in parallel/;

suite('webview: empty states', () => {
  const open = async (state: Partial<HostState>): Promise<OpenWebview> => {
    return await openWebview('tree', { state, viewport: { width: 300, height: 420 } });
  };
  const buttons = async ({ page }: OpenWebview): Promise<readonly string[]> => {
    const all = await page.getByRole('button').allInnerTexts();
    return all.map((text) => text.trim());
  };

  const states: readonly (readonly [UnavailableReason, readonly string[]])[] = [
    ['no_folder', ['Open Folder', 'Try a Sample Project', 'Show Me How']],
    ['no_repository', ['Initialize Git Repository', 'Try a Sample Project', 'Show Me How']],
    ['not_initialised', ['Set Up Drover', 'Try a Sample Project', 'Show Me How']],
    ['no_git', ['Get Git', 'Show Me How']],
    ['untrusted', ['Manage Workspace Trust', 'Show Me How']],
    ['backend_stopped', ['Start the Backend']],
  ];
  for (const [reason, wanted] of states) {
    test(`they say what Drover does, what is missing, and the next steps: ${reason}`, async () => {
      const view = await open({ board: null, connection: unavailable(reason) });
      await view.page.getByRole('alert').waitFor();
      assert.deepEqual(await buttons(view), wanted);
      const hasPurpose = reason !== 'backend_stopped';
      assert.equal(await view.page.getByText(purpose).count(), hasPurpose ? 1 : 0);
      await checkAxe(view.page);
      await screenshot(view.page, `empty-${reason}`);
      await view.close();
    });
  }

  test('an empty plan first offers to plan from a prompt', async () => {
    const view = await open({ board: boardOf([]) });
    await view.page.getByText(purpose).waitFor();
    assert.deepEqual(await buttons(view), [
      'Plan from a Prompt…',
      'New Epic',
      'New Task',
      'Show Me How',
    ]);
    await view.page.getByRole('button', { name: 'Plan from a Prompt…' }).click();
    assert.deepEqual(await view.host.waitFor('command'), { id: 'drover.planFromPrompt' });
    await checkAxe(view.page);
    await screenshot(view.page, 'empty-plan');
    await view.close();
  });

  test('the key that shows the tasks focuses the first action each time', async () => {
    const view = await open({ board: null, connection: unavailable('not_initialised') });
    const isFirst = (): Promise<boolean> =>
      view.page
        .getByRole('button', { name: 'Set Up Drover' })
        .evaluate((button) => button.matches(':focus, :focus-within'));
    await view.page.getByRole('alert').waitFor();
    for (let times = 0; times < 2; times += 1) {
      await view.host.do('focus');
      while (!(await isFirst())) await view.page.evaluate(() => new Promise(requestAnimationFrame));
      await view.page.keyboard.press('Tab');
      assert.equal(await isFirst(), false);
    }
    await view.close();
  });
});
