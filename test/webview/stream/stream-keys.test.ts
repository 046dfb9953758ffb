// The stream panel by keyboard alone, and hostile content in it.

import assert from 'node:assert/strict';
import { questionView } from '../../doubles/views.ts';
import { checkAxe } from '../support/axe.ts';
import { screenshot } from '../support/webview-page.ts';
import { taskId } from './attempt-view.ts';
import { at, FakeLog, outputLines } from './fake-log.ts';
import {
  boardWith,
  conversation,
  openStream,
  type OpenStream,
  richConversation,
} from './stream-page.ts';

suite('webview: stream with the keyboard', () => {
  let view: OpenStream;

  const focused = (): Promise<string> =>
    view.page.evaluate(() => {
      let element = document.activeElement;
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
      return element?.getAttribute('aria-label') ?? element?.textContent.trim() ?? '';
    });
  const press = (key: string): Promise<void> => view.page.keyboard.press(key);
  const focusIs = (expected: string | RegExp): Promise<unknown> =>
    view.host
      .until(`the focus is on ${expected}`, () => true)
      .then(async () => {
        for (let tries = 0; tries < 50; tries += 1) {
          const now = await focused();
          if (typeof expected === 'string' ? now === expected : expected.test(now)) return;
          await view.page.evaluate(() => new Promise(requestAnimationFrame));
        }
        assert.match(await focused(), new RegExp(expected));
      });

  /** From the top of the panel: the steps, the tabs, the rows. */
  const intoRows = async (): Promise<void> => {
    await press('Tab');
    await focusIs(/worktree/);
    await press('Tab');
    await focusIs('Stream');
    await press('Tab');
    await focusIs(/^Permission/);
  };

  test('arrow keys move between entries, Enter opens and closes them, and Tab moves to the answers', async () => {
    const permission = questionView({
      id: 'q-1',
      task_id: taskId,
      attempt: 1,
      request_id: 'r1',
      kind: 'permission',
      text: 'Claude Code wants to use Bash:\nnpm install',
      choices: ['Allow', 'Deny'],
    });
    view = await openStream(new FakeLog(conversation()), {
      state: { board: boardWith({}, { questions: [permission] }) },
      prepare: (host) => host.backend('answer', () => ({}) as never),
    });
    const last = view.page.getByRole('article', { name: /^Permission/ });
    await last.waitFor();
    await intoRows();
    await press('ArrowUp');
    await focusIs('Error output: warning: deprecated');
    for (let step = 0; step < 4; step += 1) await press('ArrowUp');
    await focusIs('Tool: Bash npm test, failed');
    await press('Enter');
    await view.page.getByText('1 failing').waitFor();
    await press('Enter');
    await view.page.getByText('1 failing').waitFor({ state: 'detached' });
    await press('ArrowRight');
    await view.page.getByText('1 failing').waitFor();
    await press('Home');
    await focusIs(/^Prompt/);
    await press('End');
    await focusIs(/^Permission/);
    await press('Tab');
    await focusIs('Allow');
    await press('Enter');
    assert.deepEqual(await view.host.waitFor('answer'), { id: 'q-1', choice: 'Allow' });
    await view.close();
  });

  test('the field shows what happens to the message, completes files after @, and recalls earlier messages', async () => {
    view = await openStream(new FakeLog(conversation()), {
      prepare: (host) => {
        host.backend('task.hint', () => ({}) as never);
        host.action('findFiles', ({ text }) => ({
          paths: ['src/print.ts', 'src/prune.ts'].filter((path) => path.includes(text)),
        }));
        host.action('sentMessages', () => ({ texts: ['Said elsewhere.'] }));
      },
    });
    const field = view.page.getByRole('textbox', { name: /Tell the agent/ });
    await field.focus();
    await view.page.keyboard.type('See @pr');
    await view.page.getByRole('option', { name: 'src/prune.ts' }).waitFor();
    await press('ArrowDown');
    await view.page.getByRole('option', { name: 'src/prune.ts', selected: true }).waitFor();
    await checkAxe(view.page);
    await press('ArrowUp');
    await press('Enter');
    await view.page.getByRole('listbox').waitFor({ state: 'detached' });
    await view.page.getByText('The agent gets this at its next step.', { exact: false }).waitFor();
    await view.page.keyboard.type('first, a@b.example last');
    assert.equal(await field.inputValue(), 'See src/print.ts first, a@b.example last');
    await press('Enter');
    await view.host.waitFor('task.hint');
    await view.page.waitForFunction(() => {
      const root = document.querySelector('drover-stream')?.shadowRoot;
      const field = root?.querySelector('drover-composer')?.shadowRoot?.querySelector('textarea');
      return field?.value === '';
    });
    await press('ArrowUp');
    assert.equal(await field.inputValue(), 'See src/print.ts first, a@b.example last');
    await press('ArrowUp');
    assert.equal(await field.inputValue(), 'Use 100 columns.');
    await press('ArrowUp');
    assert.equal(await field.inputValue(), 'Said elsewhere.');
    await press('ArrowDown');
    await press('ArrowDown');
    await press('ArrowDown');
    assert.equal(await field.inputValue(), '');
    await view.close();
  });

  test('a finished task accepts a follow-up, which is planned first if that is chosen', async () => {
    view = await openStream(new FakeLog(conversation()), {
      state: { board: boardWith({ status: 'completed', phase: null }, {}) },
      prepare: (host) => {
        host.action('followUp', () => ({}));
        host.action('sentMessages', () => ({ texts: [] }));
        host.action('findFiles', () => ({ paths: ['src/print.ts'] }));
      },
    });
    const field = view.page.getByRole('textbox', { name: /Done\. What should come next/ });
    await field.fill('Print it in color');
    const plan = view.page.getByRole('button', { name: /^Plan first/ });
    assert.equal(await plan.getAttribute('aria-pressed'), 'false');
    await plan.click();
    assert.equal(await plan.getAttribute('aria-pressed'), 'true');
    await checkAxe(view.page);
    await view.page.getByRole('button', { name: 'Make a Follow-up Task' }).click();
    assert.deepEqual(await view.host.waitFor('followUp'), {
      task: taskId,
      text: 'Print it in color',
      plansFirst: true,
    });
    await view.close();
  });

  test('the focus stays on its entry while the stream continues', async () => {
    view = await openStream(new FakeLog(conversation()));
    await view.page.getByRole('article', { name: /^Permission/ }).waitFor();
    await intoRows();
    await press('ArrowUp');
    const before = 'Error output: warning: deprecated';
    await focusIs(before);
    view.log.write(...outputLines(3_400));
    await view.page.getByText('line 3399').first().waitFor();
    assert.equal(await focused(), before);
    await view.close();
  });

  test('the prompt is read when it is opened', async () => {
    view = await openStream(new FakeLog(conversation()));
    await view.page.getByRole('article', { name: /^Prompt/ }).press('Enter');
    await view.page.getByText('print.ts').first().waitFor();
    assert.equal(view.host.of('log.prompt').length, 1);
    await view.close();
  });

  test("Markdown shows tables, links and colors, an agent's to-do list is pinned, and answers can be folded", async () => {
    view = await openStream(new FakeLog(richConversation()));
    const row = (name: RegExp): ReturnType<typeof view.page.getByRole> =>
      view.page.getByRole('article', { name });
    const said = row(/^Agent says: ## What I found/);
    await said.waitFor();
    assert.deepEqual(await said.getByRole('columnheader').allInnerTexts(), [
      'file',
      'lines',
      'state',
    ]);
    const link = said.getByRole('link', { name: 'the notes' });
    assert.equal(await link.getAttribute('href'), 'https://example.com/wrap');
    assert.equal(await said.locator('.code-keyword').first().innerText(), 'import');
    await said.getByRole('button', { name: 'src/print.ts:2' }).click();
    const opened = { path: '/home/person/project/.drover/worktrees/1/src/print.ts', line: 2 };
    assert.deepEqual(await view.host.waitFor('openFile'), opened);

    const changed = row(/^Tool: Edit/).locator('.word');
    assert.deepEqual(await changed.allInnerTexts(), ['80', '100']);

    await view.page.getByText('To-do: 1 of 3 done · Print the tree').click();
    await view.page.getByRole('list', { name: 'To-do' }).getByText('Write tests').waitFor();

    const answered = row(/^Permission.*npm test/);
    await answered.getByText('Answered: Allow').waitFor();
    assert.ok(((await answered.boundingBox())?.height ?? 0) < 30, 'one line');
    await answered.focus();
    await view.page.keyboard.press('Enter');
    await answered.getByText('npm test', { exact: false }).waitFor();
    assert.ok(((await answered.boundingBox())?.height ?? 0) > 40, 'unfolded');
    await view.close();
  });

  test('hostile content is shown as text: nothing runs, nothing is hidden, and the policy refuses nothing', async () => {
    const html = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
    const link = '[click](command:workbench.action.terminal.new)';
    const tricks =
      '\u001b]8;;command:evil\u0007link\u001b]8;;\u0007\u001b[2J\u001b[31mred\u0000\u202egnp.exe';
    const line = { at: at(1) };
    view = await openStream(
      new FakeLog([
        { ...line, type: 'text', text: `${html} ${link} \`${html}\`` },
        { ...line, type: 'output', stream: 'stdout', text: tricks },
        { ...line, type: 'tool_call', id: 'x', name: html, title: html, input: { [html]: html } },
        { ...line, type: 'tool_result', id: 'x', isError: false, text: html },
        { ...line, type: 'hint', id: 'h', text: html, state: 'sent' },
        { ...line, type: 'output', stream: 'stdout', text: 'x'.repeat(1_000_000) },
        { ...line, type: 'output', stream: 'stdout', text: 'safe\rrm -rf /\rls' },
      ]),
      { state: { board: boardWith({ title: `${html}\u202e` }) } },
    );
    await view.page.getByRole('article', { name: /^Tool/ }).press('Enter');
    await view.page.getByText('link', { exact: false }).first().waitFor();
    assert.equal(await view.page.locator('img, script[src*="x"], a').count(), 0);
    const text = await view.page.evaluate(() => {
      const root = document.querySelector('drover-stream')?.shadowRoot;
      return root?.querySelector('drover-transcript')?.shadowRoot?.textContent ?? '';
    });
    for (const shown of [html, link, 'U+202E', '␀', '2ls', 'more characters']) {
      assert.ok(text.includes(shown), shown);
    }
    assert.ok(!text.includes('\u202e') && !text.includes('\u001b'));
    await screenshot(view.page, 'stream-hostile');
    await checkAxe(view.page);
    await view.close();
  });
});
