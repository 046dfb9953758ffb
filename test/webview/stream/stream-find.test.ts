// Search and copying in the stream panel.

import assert from 'node:assert/strict';
import { checkAxe } from '../support/axe.ts';
import { screenshot } from '../support/webview-page.ts';
import { taskId } from './attempt-view.ts';
import { FakeLog, outputLine, outputLines } from './fake-log.ts';
import { conversation, openStream, type OpenStream } from './stream-page.ts';

suite('webview: search in the stream', () => {
  let view: OpenStream;

  const field = (): ReturnType<typeof view.page.getByRole> =>
    view.page.getByRole('textbox', { name: 'Find in transcript' });
  const result = (text: string | RegExp): Promise<void> =>
    view.page.locator('drover-find .result').getByText(text).waitFor();

  async function search(words: string): Promise<void> {
    await view.page.keyboard.press('Control+f');
    await field().fill(words);
  }

  test('it searches the loaded entries, opens folded ones, and marks the matches', async () => {
    view = await openStream(new FakeLog(conversation()));
    await view.page.getByRole('article', { name: /^Permission/ }).waitFor();
    await search('FAILING');
    await result('1 of 1');
    await view.page.getByText('1 failing').waitFor();
    const marked = await view.page.evaluate(() => CSS.highlights.get('drover-find-current')?.size);
    assert.equal(marked, 1);
    await screenshot(view.page, 'stream-find');
    await checkAxe(view.page);
    await view.page.getByRole('button', { name: 'Match Case' }).click();
    await result('No results here');
    await field().press('Escape');
    await field().waitFor({ state: 'detached' });
    await view.close();
  });

  test('the keyboard moves from match to match', async () => {
    view = await openStream(new FakeLog(outputLines(200)));
    await view.page.getByText('line 199').first().waitFor();
    await search('line 1');
    await result(/^4 of 4/);
    await field().press('Shift+Enter');
    await result(/^3 of 4/);
    await field().press('Enter');
    await result(/^4 of 4/);
    await field().press('Enter');
    await result(/\(last\)/);
    await view.close();
  });

  test('it continues through a log that is not loaded, forward and backward', async () => {
    const lines = outputLines(30_000);
    lines[1_234] = outputLine(1_234, 'the needle');
    view = await openStream(new FakeLog(lines));
    await view.page.getByText('line 29999').first().waitFor();
    await search('');
    await field().pressSequentially('xyz', { delay: 20 });
    await field().fill('needle');
    await view.page.getByText('the needle').waitFor();
    await result(/^1 of 1/);
    await view.page.getByRole('button', { name: /To the end/ }).click();
    await view.page.getByText('line 29999').first().waitFor();
    await view.close();
  });

  test('a result of a search in transcripts is shown at its position, marked', async () => {
    const lines = outputLines(30_000);
    lines[1_234] = outputLine(1_234, 'the Needle of it');
    const log = new FakeLog(lines);
    const place = { offset: log.offsetOf(1_234), words: 'of needle' };
    view = await openStream(log, {
      state: { subject: { id: taskId, attempt: 1 } },
      prepare: (host) => host.action('readPlace', () => ({ place })),
    });
    await result(/^1 of 1/);
    assert.equal(await field().inputValue(), 'needle');
    await view.page.getByText('the Needle of it').waitFor();
    const marked = await view.page.evaluate(() => CSS.highlights.get('drover-find-current')?.size);
    assert.equal(marked, 1);
    // The panel is open already: it is told that there is a place.
    view.host.action('readPlace', () => ({
      place: { offset: log.offsetOf(20_000), words: 'line 20000' },
    }));
    await view.host.do('place');
    await view.page.getByText('line 20000').waitFor();
    // Lines before and behind it are there to be read.
    await field().press('Escape');
    await view.page.keyboard.press('PageUp');
    await view.page.getByText('line 19990').waitFor();
    await view.close();
  });

  test('VS Code can open it, too', async () => {
    view = await openStream(new FakeLog(outputLines(10)));
    await view.page.getByText('line 9').first().waitFor();
    await view.host.do('find');
    await field().waitFor();
    await view.close();
  });

  test('an entry is copied as a whole and harmless', async () => {
    const lines = [...conversation(), { type: 'text', text: 'a\u202eb\u001b[31mc', at: 1 }];
    view = await openStream(new FakeLog(lines), {
      prepare: (host) => host.action('copy', () => ({})),
    });
    await view.page.getByRole('article', { name: /^Tool: Bash/ }).press('Control+c');
    assert.deepEqual(await view.host.waitFor('copy'), {
      text: 'Bash npm test\n# Run the tests\nnpm test\n1 failing\n12 passing',
    });
    await view.page.getByRole('article', { name: /^Agent says: a/ }).hover();
    await view.page
      .getByRole('article', { name: /^Agent says: a/ })
      .getByRole('button', { name: 'Copy' })
      .click();
    assert.deepEqual(await view.host.waitFor('copy', 1), { text: 'aU+202Ebc' });
    await view.close();
  });

  test('a copy contains only the selection', async () => {
    view = await openStream(new FakeLog(conversation()), {
      prepare: (host) => host.action('copy', () => ({})),
    });
    await view.page.getByText('warning: deprecated').dblclick({ position: { x: 12, y: 8 } });
    await view.host.do('copy');
    assert.deepEqual(await view.host.waitFor('copy'), { text: 'warning' });
    await view.close();
  });

  test('a selection survives scrolling its row out of sight', async () => {
    view = await openStream(new FakeLog([...outputLines(2_000), ...conversation()]), {
      prepare: (host) => host.action('copy', () => ({})),
    });
    await view.page.getByText('warning: deprecated').dblclick({ position: { x: 12, y: 8 } });
    await view.page.mouse.wheel(0, -6_000);
    await view.page.getByRole('button', { name: 'To the end' }).waitFor();
    await view.host.do('copy');
    assert.deepEqual(await view.host.waitFor('copy'), { text: 'warning' });
    await view.close();
  });

  test('a long result is cut, and shown completely on request', async () => {
    const long = Array.from({ length: 200 }, (_, index) => `result ${index}`).join('\n');
    const call = { type: 'tool_call', id: 'x', name: 'Bash', title: 'Bash seq', input: {}, at: 1 };
    const result = { type: 'tool_result', id: 'x', isError: false, text: long, at: 2 };
    view = await openStream(new FakeLog([call, result]));
    const row = view.page.getByRole('article', { name: /^Tool: Bash/ });
    await row.press('Enter');
    await row.getByText('result 29', { exact: false }).waitFor();
    assert.ok(!(await row.textContent())?.includes('result 30'));
    await row.getByRole('button', { name: 'Show all (170 more lines)' }).click();
    await row.getByText('result 199', { exact: false }).waitFor();
    await view.close();
  });
});
