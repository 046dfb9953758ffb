// Text typed for an agent: no draft any more once it was sent, and still one if it was refused.

import assert from 'node:assert/strict';
import { eventually } from '../../e2e/support/eventually.ts';
import { boardOf, numbered } from '../support/boards.ts';
import type { Locator } from '../../vscode/host/browser.ts';
import { taskId } from './attempt-view.ts';
import { FakeLog } from './fake-log.ts';
import { conversation, openStream, type OpenStream } from './stream-page.ts';

const words = 'print it wide';
/** So that the page shows the stream. */
const shown = { status: 'in_progress', phase: 'agent', agent: 'claude', attempts: 1 } as const;
const other = { id: 'readme', attempt: null };

suite('webview: a hint that is being sent', () => {
  let view: OpenStream;
  let field: Locator;
  let fate: PromiseWithResolvers<never>;

  setup(async () => {
    fate = Promise.withResolvers();
    const board = boardOf(
      numbered([
        { id: taskId, title: 'Print the tree', ...shown },
        { id: other.id, title: 'Write a README', ...shown },
      ]),
    );
    view = await openStream(new FakeLog(conversation()), {
      state: { board },
      prepare: (host) => {
        host.backend('task.hint', () => fate.promise);
        host.action('notify', () => ({ button: null }));
      },
    });
    field = view.page.getByRole('textbox', { name: /Tell the agent/ });
    await field.fill(words);
    await eventually('it is kept', () => JSON.stringify(view.memory())?.includes(words));
    await field.press('Enter');
    await view.host.waitFor('task.hint');
  });
  teardown(() => view.close());

  const isRemembered = (): Promise<boolean> =>
    view.page.evaluate((sent) => {
      for (let at = 0; at < sessionStorage.length; at += 1) {
        const key = sessionStorage.key(at) ?? '';
        if (sessionStorage.getItem(key)?.includes(sent) === true) return true;
      }
      return false;
    }, words);
  const show = async (subject: typeof other): Promise<void> => {
    await view.host.reuse(subject, null);
    await view.host.pushState({});
    await field.waitFor();
  };

  for (const isTaken of [true, false]) {
    const what = isTaken ? 'taken is no draft' : 'refused is still a draft';
    test(`${what}, if the page shows another task by then`, async () => {
      await show(other);
      await field.fill('for the other task');
      if (isTaken) fate.resolve({} as never);
      else fate.reject(new Error('not now'));
      await eventually('its task has it right', async () => (await isRemembered()) === !isTaken);
      assert.equal(await field.inputValue(), 'for the other task');
      await show({ id: taskId, attempt: null });
      assert.equal(await field.inputValue(), isTaken ? '' : words);
    });
  }

  test('it is sent without the text typed in the meantime', async () => {
    await field.fill(`${words}\nand soon`);
    fate.resolve({} as never);
    await eventually('only the rest is there', async () => {
      return (await field.inputValue()) === 'and soon';
    });
  });
});
