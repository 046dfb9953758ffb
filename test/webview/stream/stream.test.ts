// The stream panel alone in Chromium.

import assert from 'node:assert/strict';
import { questionView, taskView } from '../../doubles/views.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { checkAxe } from '../support/axe.ts';
import { stateThemes } from '../support/themes.ts';
import { screenshot } from '../support/webview-page.ts';
import { attemptView, taskId } from './attempt-view.ts';
import { at, FakeLog, outputLine, outputLines } from './fake-log.ts';
import {
  boardWith,
  conversation,
  richConversation,
  openStream,
  scrollFacts,
  type OpenStream,
} from './stream-page.ts';

const permission = questionView({
  id: 'q-1',
  task_id: taskId,
  attempt: 1,
  request_id: 'r1',
  kind: 'permission',
  text: 'Claude Code wants to use Bash:\nnpm install',
  choices: ['Allow', 'Deny'],
});

suite('webview: stream', () => {
  let view: OpenStream;

  const row = (name: string | RegExp): ReturnType<typeof view.page.getByRole> =>
    view.page.getByRole('article', { name });
  const lineShown = (index: number): Promise<void> =>
    view.page.getByText(`line ${index}`, { exact: false }).first().waitFor();

  for (const theme of stateThemes) {
    test(`it shows a conversation with something of every kind: ${theme}`, async () => {
      view = await openStream(new FakeLog(richConversation()), {
        theme,
        state: { board: boardWith({}, { questions: [permission] }) },
      });
      await row(/^Permission.*install/).waitFor();
      await view.page.getByText('To-do: 1 of 3').click();
      await row(/^Tool: Bash npm test, failed/).click();
      await row(/^Tool: Bash/)
        .getByText('1 failing')
        .waitFor();
      await screenshot(view.page, `stream-${theme.toLowerCase().replaceAll(' ', '-')}`);
      await checkAxe(view.page);
      await view.close();
    });
  }

  test('a file of a finished attempt is opened as in its commit', async () => {
    const sha = '89abcdef0123456789abcdef0123456789abcdef';
    const over = attemptView({ state: 'succeeded', ended_at_ms: at(90), commit_sha: sha });
    const file = `${over.worktree_path}/src/tree.ts`;
    const read = { type: 'tool_call', id: 't', name: 'Read', title: file, at: at(5) };
    const log = new FakeLog([{ ...read, input: { file_path: file } }]);
    view = await openStream(log, {
      attempts: [over],
      state: { board: boardWith({ status: 'completed', phase: null, commit_sha: sha }) },
    });
    await row(/^Tool: /).click();
    await row(/^Tool: /)
      .getByRole('button', { name: 'src/tree.ts', exact: true })
      .click();
    assert.deepEqual(await view.host.waitFor('openFile'), { path: 'src/tree.ts', sha });
    await view.close();
  });

  test('its header shows on which machine of a fleet the attempt ran', async () => {
    const answers = { attempts: [attemptView({ machine: 'atlas' })] };
    view = await openStream(new FakeLog(conversation()), answers);
    await view.page.getByTitle('Machine').getByText('atlas').waitFor();
    await view.close();
  });

  test('it opens at the end of a log of 100,000 lines, and reports how long that took', async () => {
    view = await openStream(new FakeLog(outputLines(100_000)));
    await lineShown(99_999);
    await view.host.until('the opening is measured', () =>
      view.host.of('measured').some(({ params }) => {
        return (params as { name: string }).name === 'stream.open';
      }),
    );
    assert.equal(view.log.asked[0]?.before, Number.MAX_SAFE_INTEGER);
    assert.ok(view.log.asked.length <= 3, 'the end is read first');
    await view.close();
  });

  test('it follows the end, and a user who scrolls up sees the number of new lines', async () => {
    view = await openStream(new FakeLog(outputLines(500)));
    await lineShown(499);
    view.log.write(...outputLines(100, 500));
    await lineShown(599);
    assert.ok((await scrollFacts(view.page)).fromEndPx < 2);

    await view.page.mouse.move(400, 400);
    await view.page.mouse.wheel(0, -600);
    const button = view.page.getByRole('button', { name: /To the end|new/ });
    await button.waitFor();
    const before = await scrollFacts(view.page);
    view.log.write(...outputLines(80, 600));
    await view.page.getByRole('button', { name: /\d+ new/ }).waitFor();
    const after = await scrollFacts(view.page);
    assert.equal(after.topPx, before.topPx);

    await button.click();
    await lineShown(679);
    assert.ok((await scrollFacts(view.page)).fromEndPx < 2);
    view.log.write(outputLine(680));
    await lineShown(680);
    await view.close();
  });

  test('it reads older lines when the user scrolls up, without a jump', async () => {
    view = await openStream(new FakeLog(outputLines(2_000)));
    await lineShown(1_999);
    await view.page.mouse.move(400, 400);
    for (let step = 0; step < 200; step += 1) {
      await view.page.mouse.wheel(0, -3_000);
      await view.page.evaluate(() => new Promise(requestAnimationFrame));
      const { lines } = await scrollFacts(view.page);
      // The visible part has no gap.
      assert.ok(lines.every((line, index) => index === 0 || line === (lines[index - 1] ?? 0) + 1));
      if (lines[0] === 0) break;
    }
    await view.page.getByRole('article', { name: /^Prompt/ }).waitFor();
    assert.ok((await scrollFacts(view.page)).rowCount < 120);
    await view.close();
  });

  test("it answers a question by the board's id", async () => {
    view = await openStream(new FakeLog(conversation()), {
      state: { board: boardWith({}, { questions: [permission] }) },
      prepare: (host) => host.backend('answer', () => ({}) as never),
    });
    await row(/^Permission/)
      .getByRole('button', { name: 'Deny' })
      .click();
    assert.deepEqual(await view.host.waitFor('answer'), { id: 'q-1', choice: 'Deny' });
    view.log.write({ type: 'answered', requestId: 'r1', choice: 'Deny', at: at(30) });
    await view.host.pushState({ board: boardWith() });
    await view.page.getByText('Answered: Deny').waitFor();
    // These words come with the log, and the buttons go with the board.
    const buttons = view.page.getByRole('button', { name: 'Allow' });
    await buttons.first().waitFor({ state: 'detached' });
    await view.close();
  });

  test('a question whose row is not loaded can be answered too, with free text if no choice is offered', async () => {
    const free = questionView({
      id: 'q-2',
      task_id: taskId,
      attempt: 1,
      kind: 'question',
      text: 'Which name?',
      choices: [],
    });
    view = await openStream(new FakeLog(outputLines(10)), {
      state: { board: boardWith({}, { questions: [free] }) },
      prepare: (host) => host.backend('answer', () => ({}) as never),
    });
    await view.page.getByRole('textbox', { name: 'Your answer' }).fill('drover');
    await view.page.keyboard.press('Enter');
    assert.deepEqual(await view.host.waitFor('answer'), { id: 'q-2', choice: 'drover' });
    await view.close();
  });

  test('it sends a hint, and keeps it when it was refused', async () => {
    let isRefused = true;
    view = await openStream(new FakeLog(outputLines(10)), {
      prepare: (host) => {
        host.backend('task.hint', () => {
          if (isRefused) throw new Error('not now');
          return {} as never;
        });
        host.action('notify', () => ({ button: null }));
      },
    });
    const field = view.page.getByRole('textbox', { name: /Tell the agent/ });
    await field.fill('Use tabs.');
    await field.press('Enter');
    const told = (await view.host.waitFor('notify')) as { text: string };
    assert.match(told.text, /not now/);
    assert.equal(await field.inputValue(), 'Use tabs.');
    isRefused = false;
    await field.press('Enter');
    assert.deepEqual(await view.host.waitFor('task.hint', 1), { id: taskId, text: 'Use tabs.' });
    await view.page.waitForFunction(() => {
      const composer = document
        .querySelector('drover-stream')
        ?.shadowRoot?.querySelector('drover-composer');
      return composer?.shadowRoot?.querySelector('textarea')?.value === '';
    });
    await view.close();
  });

  test('it pauses, cancels after a confirmation, opens the worktree and takes over', async () => {
    view = await openStream(new FakeLog(outputLines(10)), {
      prepare: (host) => {
        host.backend('task.pause', () => ({}) as never);
        host.backend('task.cancel', () => ({}) as never);
        host.action('notify', () => ({ button: 'End Task' }));
        host.action('openWorktree', () => ({}));
        host.action('takeOver', () => ({}));
      },
    });
    const act = async (name: string): Promise<void> =>
      await view.page.getByRole('toolbar').getByRole('button', { name }).click();
    await act('Pause');
    assert.deepEqual(await view.host.waitFor('task.pause'), { id: taskId });
    await act('Cancel');
    assert.deepEqual(await view.host.waitFor('task.cancel'), { id: taskId });
    await act('Open Worktree');
    assert.deepEqual(await view.host.waitFor('openWorktree'), { task: taskId });
    await act('Take Over');
    assert.deepEqual(await view.host.waitFor('takeOver'), { task: taskId });
    await view.close();
  });

  test('it shows another attempt when the user selects it', async () => {
    const first = new FakeLog([{ type: 'text', text: 'the first try', at: at(0) }]);
    const second = new FakeLog([{ type: 'text', text: 'the second try', at: at(9) }]);
    first.hasEnded = true;
    second.attempt = 2;
    view = await openStream(second, {
      attempts: [
        attemptView({ number: 1, state: 'failed', ended_at_ms: at(8) }),
        attemptView({ number: 2 }),
      ],
      prepare: (host) => {
        host.backend('log.read', (params) => (params.attempt === 1 ? first : second).read(params));
      },
    });
    await row(/second try/).waitFor();
    await view.page.getByRole('combobox', { name: 'Attempt' }).selectOption('1');
    await row(/first try/).waitFor();
    assert.equal(await row(/second try/).count(), 0);
    await view.close();
  });

  test('a new attempt is shown when it starts', async () => {
    const first = new FakeLog([{ type: 'text', text: 'the first try', at: at(0) }]);
    const second = new FakeLog([{ type: 'text', text: 'the second try', at: at(9) }]);
    second.attempt = 2;
    let attempts = [attemptView({ number: 1 })];
    view = await openStream(first, {
      prepare: (host) => {
        host.backend('attempts', () => attempts);
        host.backend('task.hint', () => ({}) as never);
        host.backend('log.read', (params) => (params.attempt === 2 ? second : first).read(params));
      },
    });
    await row(/first try/).waitFor();
    const field = view.page.getByRole('textbox', { name: /Tell the agent/ });
    await field.fill('Use tabs.');
    await field.press('Enter');
    await view.page.getByText('The agent will receive: Use tabs.').waitFor();
    attempts = [...attempts, attemptView({ number: 2 })];
    await view.host.pushState({ board: boardWith({ attempts: 2 }) });
    await row(/second try/).waitFor();
    // Its prompt has the words.
    assert.equal(await view.page.getByText('The agent will be told').count(), 0);
    await view.close();
  });

  test('it keeps its position, its folds and its draft over a reload', async () => {
    view = await openStream(new FakeLog([...conversation(), ...outputLines(4_000)]));
    await lineShown(3_999);
    await view.page.mouse.move(400, 300);
    await view.page.mouse.wheel(0, -8_000);
    await view.page.getByRole('button', { name: /To the end/ }).waitFor();
    await view.page.getByRole('textbox', { name: /Tell the agent/ }).fill('half a thought');
    const before = await stablePlace(view);
    view.log.write(...outputLines(500, 4_000));
    await view.reload();
    await view.page.getByRole('button', { name: /To the end|new/ }).waitFor();
    await view.page.getByText(`line ${before}`, { exact: false }).first().waitFor();
    const after = (await scrollFacts(view.page)).lines[0] ?? 0;
    assert.ok(Math.abs(after - before) <= 1, `${before} became ${after}`);
    const field = view.page.getByRole('textbox', { name: /Tell the agent/ });
    assert.equal(await field.inputValue(), 'half a thought');
    await view.close();
  });

  test('a review shows the change, approves it, or sends it back with a comment', async () => {
    view = await openStream(new FakeLog(conversation()), {
      state: { board: boardWith({ status: 'needs_review', phase: null }) },
      prepare: (host) => {
        host.backend('approve', () => ({}) as never);
        host.action('review', () => ({}));
      },
    });
    const waiting = view.page.getByRole('region', { name: 'Waiting for you' });
    await waiting.getByRole('button', { name: 'Review Changes' }).click();
    assert.deepEqual(await view.host.waitFor('review'), { id: taskId });
    await waiting.getByRole('button', { name: 'Approve' }).click();
    assert.deepEqual(await view.host.waitFor('approve'), { id: taskId });
    const field = view.page.getByRole('textbox', { name: /Send it back/ });
    await field.fill('Use tabs.');
    await field.press('Enter');
    assert.deepEqual(await view.host.waitFor('sendBack'), { id: taskId, text: 'Use tabs.' });
    await checkAxe(view.page);
    await view.close();
  });

  test('it shows which hint is still unsent, and which sub-task has a question', async () => {
    const board = boardWith({ status: 'paused', phase: null });
    const part = taskView({
      id: 'part',
      parent_id: taskId,
      title: 'Break lines',
      status: 'paused',
    });
    const asked = questionView({ id: 'q-3', task_id: 'part', text: 'Which width?' });
    view = await openStream(new FakeLog(conversation()), {
      state: { board: { ...board, tasks: [...board.tasks, part], questions: [asked] } },
      prepare: (host) => {
        host.backend('task.hint', () => ({}) as never);
        host.action('openStream', () => ({}));
      },
    });
    const field = view.page.getByRole('textbox', { name: /Tell the agent/ });
    await field.fill('Use tabs.');
    await field.press('Enter');
    await view.page.getByText('The agent will receive: Use tabs.').waitFor();
    view.log.write({ type: 'hint', id: 'h9', text: 'Use tabs.', state: 'sent', at: at(40) });
    await view.page.getByText('The agent will be told').waitFor({ state: 'detached' });
    await view.page.getByText('Break lines: Which width?').waitFor();
    await view.page.getByRole('button', { name: 'Open', exact: true }).click();
    assert.deepEqual(await view.host.waitFor('openStream'), { task: 'part' });
    await checkAxe(view.page);
    await view.close();
  });

  test('without a connection, it says so and shows the next step', async () => {
    view = await openStream(new FakeLog(), {
      state: {
        connection: {
          kind: 'unavailable',
          reason: 'no_git',
          message: 'Git was not found.',
          action: { command: 'drover.openSettings', title: 'Open Settings' },
        },
        board: null,
      },
      prepare: (host) => host.action('command', () => ({})),
    });
    await view.page.getByText('Git was not found.').waitFor();
    await checkAxe(view.page);
    await view.page.getByRole('button', { name: 'Open Settings' }).click();
    assert.deepEqual(await view.host.waitFor('command'), { id: 'drover.openSettings' });
    await view.close();
  });

  test('it reports the problem, and continues when the backend is back', async () => {
    const log = new FakeLog(outputLines(10));
    log.failure = new Error('The backend is gone.');
    view = await openStream(log);
    await view.page.getByText('The backend is gone.').waitFor();
    log.failure = null;
    await lineShown(9);
    assert.equal(await view.page.getByText('The backend is gone.').count(), 0);
    await view.close();
  });
});

/** The first line in sight once the panel has remembered it. */
async function stablePlace(view: OpenStream): Promise<number> {
  const first = (await scrollFacts(view.page)).lines[0] ?? 0;
  // A page's memory is sent nowhere.
  await eventually('the place is remembered', () => {
    const memory = view.memory() as { place?: unknown; draft?: string } | undefined;
    return memory?.draft === 'half a thought' && memory.place !== null;
  });
  return first;
}
