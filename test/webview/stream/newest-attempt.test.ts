// A page that was opened without an attempt follows the newest one.

import assert from 'node:assert/strict';
import type { Locator } from '../../vscode/host/browser.ts';
import { attemptView } from './attempt-view.ts';
import { at, FakeLog } from './fake-log.ts';
import { boardWith, openStream, type OpenStream } from './stream-page.ts';

const row = ({ page }: OpenStream, text: RegExp): Locator =>
  page.getByRole('article', { name: text });

suite('webview: stream of the newest attempt', () => {
  let view: OpenStream;

  test('a page that is open during a failing attempt continues with its retry, and so does its header', async () => {
    const first = new FakeLog([{ type: 'text', text: 'the first try', at: at(0) }]);
    const second = new FakeLog([{ type: 'text', text: 'the second try', at: at(9) }]);
    second.attempt = 2;
    const failed = attemptView({
      number: 1,
      state: 'failed',
      error: 'exit code 1',
      ended_at_ms: at(8),
    });
    let attempts = [failed];
    first.hasEnded = true;
    view = await openStream(first, {
      state: { board: boardWith({ status: 'failed', phase: null, last_error: 'exit code 1' }) },
      prepare: (host) => {
        host.backend('attempts', () => attempts);
        host.backend('log.read', (params) => (params.attempt === 2 ? second : first).read(params));
      },
    });
    await row(view, /first try/).waitFor();
    attempts = [failed, attemptView({ number: 2 })];
    await view.host.pushState({ board: boardWith({ status: 'in_progress', attempts: 2 }) });
    await row(view, /second try/).waitFor();
    assert.equal(await row(view, /first try/).count(), 0);
    assert.equal(await view.page.getByRole('combobox', { name: 'Attempt' }).inputValue(), '2');
    await view.close();
  });
});
