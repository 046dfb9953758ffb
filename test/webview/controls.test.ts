// Behavior of buttons and fields that must equal the native ones: keys that are held down, that
// scroll, that compose.

import assert from 'node:assert/strict';
import { boardOf, smallBoard } from './support/boards.ts';
import { openWebview } from './support/webview-page.ts';

suite('webview: controls', () => {
  test('Space and Enter press a push button once, and do nothing else', async () => {
    const view = await openWebview('grid', { state: { board: boardOf([]) } });
    const button = view.page.getByRole('button', { name: 'Run All' });
    await button.waitFor();
    await view.page.evaluate(() => {
      const left: string[] = [];
      window.addEventListener('keydown', (event) => {
        if (!event.defaultPrevented) left.push(event.key);
      });
      Object.assign(window, { left });
    });
    for (const key of [' ', 'Enter']) {
      await button.focus();
      await view.page.keyboard.down(key);
      // It is still down: this one is a repetition.
      await view.page.keyboard.down(key);
      await view.page.keyboard.up(key);
      await view.host.waitFor('runAll', key === ' ' ? 0 : 1);
    }
    assert.equal(view.host.of('runAll').length, 2);
    assert.deepEqual(await view.page.evaluate(() => Reflect.get(window, 'left')), []);
    await view.close();
  });

  test("Enter that completes an input method's choice does not submit a form", async () => {
    const view = await openWebview('inbox', { state: { board: smallBoard() } });
    view.host.backend('task.hint', () => smallBoard().tasks[0] as never);
    await view.page.getByRole('button', { name: 'Retry with a Hint' }).click();
    const field = view.page.getByRole('textbox');
    await field.fill('Use a file');
    await field.evaluate((input) => {
      const keys = { key: 'Enter', isComposing: true, bubbles: true, composed: true };
      input.dispatchEvent(new KeyboardEvent('keydown', keys));
    });
    assert.equal(await field.inputValue(), 'Use a file');
    assert.deepEqual(view.host.of('task.hint'), []);
    await field.press('Enter');
    await view.host.waitFor('task.hint');
    await view.close();
  });

  test('a secondary button under the mouse is not dark in a light theme', async () => {
    const theme = 'Default High Contrast Light';
    const view = await openWebview('inbox', { state: { board: smallBoard() }, theme });
    const button = view.page.getByRole('button', { name: 'Retry with a Hint' });
    await button.hover();
    const color = await button.evaluate((element) => {
      const base = element.shadowRoot?.querySelector('.base') ?? element;
      return getComputedStyle(base).backgroundColor;
    });
    assert.equal(color, 'rgba(0, 0, 0, 0)');
    await view.close();
  });
});
