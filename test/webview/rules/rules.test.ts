// The rules for pull requests alone in Chromium: the table, and a check that is repeated.

import assert from 'node:assert/strict';
import type { RulesReport } from '../../../webview/messages/messages.ts';
import { checkAxe } from '../support/axe.ts';
import { smallBoard } from '../support/boards.ts';
import { Refusal } from '../support/fake-host.ts';
import { stateThemes } from '../support/themes.ts';
import { openWebview, screenshot, type OpenWebview } from '../support/webview-page.ts';

const rules: RulesReport = {
  isBlocked: false,
  rows: [
    { topic: 'Approvals', level: 'warning', message: 'main needs 1 approval, not by lead.' },
    { topic: 'Push', level: 'pass', message: 'Git may push to acme/shop.' },
  ],
};

suite('webview: rules of pull requests', () => {
  let view: OpenWebview;
  const open = async (theme?: (typeof stateThemes)[number]): Promise<void> => {
    view = await openWebview('rules', {
      state: { board: smallBoard() },
      ...(theme === undefined ? {} : { theme }),
      prepare: (host) => host.action('readRules', () => rules),
    });
    await view.page.getByRole('row', { name: 'Ready Push' }).waitFor();
  };

  for (const theme of stateThemes) {
    test(`each row has its state in words: ${theme}`, async () => {
      await open(theme);
      const { page } = view;
      const first = page.getByRole('row').nth(1);
      assert.match(await first.innerText(), /Needs you\s+Approvals\s+main needs 1 approval/u);
      await page.getByText('Pull requests can land; one row needs a person.').waitFor();
      await screenshot(page, `rules-${theme.toLowerCase().replaceAll(' ', '-')}`);
      await checkAxe(page);
      await view.close();
    });
  }

  test('by keyboard they are asked for again, and a failure is an alert beside the old rows', async () => {
    await open();
    const { page, host } = view;
    host.action('readRules', () => ({ isBlocked: true, rows: rules.rows }));
    await page.getByRole('button', { name: 'Check Again' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('No pull request can land: mend the errors first.').waitFor();
    host.action('readRules', () => {
      throw new Refusal('forge', 'GitHub does not answer.');
    });
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('GitHub does not answer.').waitFor();
    assert.equal(await page.getByRole('row').count(), 3);
    await checkAxe(page);
    await view.close();
  });
});
