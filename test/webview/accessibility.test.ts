// Every webview in several themes: nothing that axe-core finds fault with, with a board, with nothing, and with a way on.

import { unavailable } from '../../extension/project/unavailable.ts';
import { checkAxe } from './support/axe.ts';
import { boardOf } from './support/boards.ts';
import { everyWebview, openAny } from './support/every-webview.ts';
import { themeNames } from './support/themes.ts';
import { screenshot } from './support/webview-page.ts';

suite('accessibility of the webviews', () => {
  for (const [name, words] of everyWebview) {
    for (const theme of themeNames) {
      test(`${name} is accessible in ${theme}`, async () => {
        const view = await openAny(name, { theme });
        await view.page.getByText(words).first().waitFor();
        await screenshot(view.page, `${name} ${theme}`.toLowerCase().replaceAll(' ', '-'));
        await checkAxe(view.page);
        await view.close();
      });
    }

    test(`${name} is accessible with an empty board`, async () => {
      const state = { board: boardOf([]), subject: { id: null, attempt: null } };
      const view = await openAny(name, { state });
      await view.page.locator(`drover-${name}`).waitFor();
      await view.page.getByText(/\w{3}/).first().waitFor();
      await screenshot(view.page, `${name}-empty`);
      await checkAxe(view.page);
      await view.close();
    });

    test(`${name} is accessible when nothing works until a person acts`, async () => {
      const connection = unavailable('no_git');
      const view = await openAny(name, { state: { connection, board: null } });
      // The inbox leaves the reason to the tree above it.
      const words = name === 'inbox' ? 'Questions, reviews and failures' : 'Git was not found';
      await view.page.getByText(words).first().waitFor();
      await screenshot(view.page, `${name}-unavailable`);
      await checkAxe(view.page);
      await view.close();
    });
  }
});
