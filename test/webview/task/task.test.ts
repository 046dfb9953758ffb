// The page of a task alone in Chromium: everything that it says is changed in place, by mouse and by keyboard.

import assert from 'node:assert/strict';
import type { StatusSnapshot, TaskView } from '../../../server/protocol/views.ts';
import { packedBoard } from '../../../extension/webviews/board-bytes.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { checkAxe } from '../support/axe.ts';
import { answerReads } from '../support/answers.ts';
import { boardOf, numbered } from '../support/boards.ts';
import type { FakeHost } from '../support/fake-host.ts';
import { hostState } from '../support/host-state.ts';
import { stateThemes } from '../support/themes.ts';
import {
  openWebview,
  screenshot,
  type OpenOptions,
  type OpenWebview,
} from '../support/webview-page.ts';

const description = [
  'Print the **tree** as text, with `print.ts`:',
  '',
  '- one line for each node',
  '- children indented by two spaces',
  '',
  '```',
  'npm test',
  '```',
].join('\n');
const criteria = ['A tree of depth 3 is printed', 'Wide lines are broken'];

function board(change: Partial<TaskView> = {}): StatusSnapshot {
  return boardOf(
    numbered([
      { id: 'parse', title: 'Write the parser', epic_id: 'syntax', status: 'completed' },
      {
        id: 'print',
        title: 'Print the tree',
        epic_id: 'syntax',
        description,
        acceptance_criteria: criteria,
        blocked_by: ['parse'],
        labels: ['cli', 'needs:gpu'],
        priority: 5,
        ...change,
      },
      { id: 'print-wide', title: 'Break wide lines', parent_id: 'print', epic_id: 'syntax' },
      { id: 'check', title: 'Check types', epic_id: 'syntax', blocked_by: ['print'] },
      { id: 'readme', title: 'Write a README' },
    ]),
    [
      ['syntax', 'A language'],
      ['server', 'A server'],
    ],
  );
}

suite('webview: page of a task', () => {
  let view: OpenWebview;

  async function open(change: Partial<TaskView> = {}, options: OpenOptions = {}): Promise<void> {
    view = await openWebview('stream', {
      ...options,
      state: { board: board(change), subject: { id: 'print', attempt: null } },
      prepare: (host) => {
        answerReads(host);
        host.backend('attempts', () => []);
        host.backend('log.read', () => {
          throw new Error('no attempt yet');
        });
        host.backend('task.edit', ({ id }) => board().tasks.find((t) => t.id === id) as TaskView);
        host.backend('task.add', () => board().tasks[0] as TaskView);
        host.backend('events.read', () => ({
          seq: 3,
          events: [
            event(1, 'task.created', {}),
            event(2, 'task.edited', { changed: ['title', 'acceptance_criteria'] }),
          ],
        }));
      },
    });
    await view.page.getByRole('textbox', { name: 'Title' }).waitFor();
  }

  const event = (seq: number, type: string, data: Readonly<Record<string, unknown>>) => ({
    seq,
    id: `e${seq}`,
    type,
    timestamp: 1_700_000_000 + seq,
    at_ms: (1_700_000_000 + seq) * 1000,
    task_id: 'print',
    epic_id: null,
    run_id: null,
    data,
  });
  const edits = (): readonly unknown[] => view.host.of('task.edit').map(({ params }) => params);

  test('a long title is shown completely, lists have bullets, and a commit leads to its diff', async () => {
    const words = 'Print the whole tree with every operator, each level on its own line';
    const sha = 'a1b2c3d4e5'.repeat(4);
    await open({
      title: `${words}, and ${words.toLowerCase()}`,
      description: 'Steps:\n\n- one\n- two',
      acceptance_criteria: [],
      commit_sha: sha,
    });
    const { page } = view;
    const title = page.getByRole('textbox', { name: 'Title' });
    const box = await title.evaluate((field) => [
      field.clientHeight,
      field.scrollHeight,
      Number.parseFloat(getComputedStyle(field).lineHeight),
    ]);
    const [height = 0, whole = 0, linePx = 0] = box;
    assert.ok(height >= whole && height > 1.8 * linePx, `two lines: ${box.join(', ')}`);
    const list = page.locator('.prose ul');
    assert.equal(await list.evaluate((each) => getComputedStyle(each).listStyleType), 'disc');
    await screenshot(page, 'task-long-title');
    await page
      .getByRole('button', { name: sha.slice(0, 10) })
      .first()
      .click();
    await view.host.until('the change is shown', () => view.host.of('review')[0]);
    assert.deepEqual(view.host.of('review').at(-1)?.params, { id: 'print' });
  });

  test('it is drawn from the page itself, unless VS Code restores that page', async () => {
    const late = Promise.withResolvers<Record<string, never>>();
    const state = { board: board(), subject: { id: 'print', attempt: null } };
    const { board: _now, ...around } = hostState('stream', state);
    const first = { state: around, board: packedBoard(board({ title: 'Print it at once' })) };
    const title = (): ReturnType<typeof view.page.getByRole> =>
      view.page.getByRole('textbox', { name: 'Title' });
    const prepare = (host: FakeHost): void => {
      answerReads(host);
      host.action('hello', () => late.promise);
    };
    view = await openWebview('stream', { state, first, prepare });
    await title().waitFor();
    assert.equal(await title().inputValue(), 'Print it at once');
    await view.host.pushState({ board: board({ title: 'Print it now' }) });
    await eventually('what the extension says counts', async () => {
      return (await title().inputValue()) === 'Print it now';
    });
    await view.reload();
    await view.host.until('the page asks again', () => view.host.of('log.read')[1]);
    assert.equal(await title().count(), 0);
    await view.host.pushState({});
    await title().waitFor();
    assert.equal(await title().inputValue(), 'Print it now');
    late.resolve({});
    await view.close();
  });

  test('it is drawn at once if its panel showed another task, whose memory stays unchanged', async () => {
    const state = { board: board(), subject: { id: 'print', attempt: null } };
    const { board: _now, ...around } = hostState('stream', state);
    view = await openWebview('stream', {
      state,
      first: { state: around, board: packedBoard(board({ title: 'Print it at once' })) },
      memory: { page: 'stream', draft: 'for the other task' },
      memoryOf: { id: 'parse', attempt: null },
      prepare: (host) => {
        answerReads(host);
        host.action('hello', () => Promise.withResolvers<Record<string, never>>().promise);
      },
    });
    const title = view.page.getByRole('textbox', { name: 'Title' });
    await title.waitFor();
    assert.equal(await title.inputValue(), 'Print it at once');
    assert.equal(await view.page.getByText('for the other task').count(), 0);
    await view.close();
  });

  test('it is reused for another task at once, each with its own typed text', async () => {
    await open();
    const { page, host } = view;
    const title = page.getByRole('textbox', { name: 'Title' });
    const hint = page.locator('drover-composer').getByRole('textbox');
    await hint.fill('print it wide');
    await host.until('it is kept', () =>
      (JSON.stringify(view.memory()) ?? '').includes('print it wide'),
    );
    const readme = { id: 'readme', attempt: null };
    const { board: whole, ...around } = hostState('stream', { ...host.state, subject: readme });
    host.action('hello', () => Promise.withResolvers<Record<string, never>>().promise);
    await host.reuse(readme, { state: around, board: packedBoard(whole ?? board()) });
    await eventually('the other task shows', async () => {
      return (await title.inputValue()) === 'Write a README';
    });
    assert.equal(await hint.inputValue(), '');
    assert.deepEqual(host.selection, ['readme']);
    await page.getByLabel('Labels', { exact: true }).fill('docs');
    await page.keyboard.press('Enter');
    assert.deepEqual(await host.waitFor('task.edit'), { id: 'readme', labels: ['docs'] });
    await host.reuse({ id: 'print', attempt: null }, null);
    assert.equal(await title.count(), 0);
    await host.pushState({});
    await title.waitFor();
    assert.equal(await hint.inputValue(), 'print it wide');
    // VS Code makes the same page again: it shows its last subject.
    await host.reuse(readme, null);
    await view.reload();
    await host.pushState({});
    await eventually('the other task shows', async () => {
      return (await title.count()) > 0 && (await title.inputValue()) === 'Write a README';
    });
    await view.close();
  });

  test('it does and shows nothing while hidden, and has all typed text when it is shown', async () => {
    await open();
    const { page, host } = view;
    const hint = page.locator('drover-composer').getByRole('textbox');
    await hint.fill('print it wide');
    await host.rest();
    await page.locator('drover-stream').waitFor({ state: 'detached' });
    const asked = host.asked.length;
    await host.pushState({ board: board({ title: 'Print the whole tree' }) });
    assert.equal(await page.locator('drover-stream').count(), 0);
    assert.equal(host.asked.length, asked);
    await host.reuse({ id: 'print', attempt: null }, null);
    await host.pushState({});
    await eventually('its task shows as it is now', async () => {
      const title = page.getByRole('textbox', { name: 'Title' });
      return (await title.count()) > 0 && (await title.inputValue()) === 'Print the whole tree';
    });
    assert.equal(await hint.inputValue(), 'print it wide');
    // A click reuses it at once after the last key: typed text is not lost either.
    await hint.fill('print it narrow');
    await host.reuse({ id: 'readme', attempt: null }, null);
    await host.reuse({ id: 'print', attempt: null }, null);
    await host.pushState({});
    await hint.waitFor();
    assert.equal(await hint.inputValue(), 'print it narrow');
    await view.close();
  });

  for (const theme of stateThemes) {
    test(`it shows everything about a task that no agent has worked on yet: ${theme}`, async () => {
      await open({}, { theme });
      const { page } = view;
      assert.equal(
        await page.getByRole('tab', { name: 'Task' }).getAttribute('aria-selected'),
        'true',
      );
      await page.getByText('children indented by two spaces').waitFor();
      assert.equal(await page.getByLabel('Criterion 2', { exact: true }).inputValue(), criteria[1]);
      assert.equal(await page.getByLabel('Labels', { exact: true }).inputValue(), 'cli, needs:gpu');
      assert.equal(await page.getByLabel('Epic', { exact: true }).inputValue(), 'syntax');
      await page.getByRole('button', { name: 'Write the parser', exact: true }).waitFor();
      await page.getByRole('button', { name: 'Check types', exact: true }).waitFor();
      await screenshot(page, `task-${theme.toLowerCase().replaceAll(' ', '-')}`);
      await checkAxe(page);
      await view.close();
    });
  }

  test('the title, description and criteria are edited in place with the keyboard', async () => {
    await open();
    const { page } = view;
    await page.getByRole('textbox', { name: 'Title' }).fill('Print the whole tree');
    await page.keyboard.press('Enter');
    await view.host.waitFor('task.edit');
    await page.getByRole('button', { name: 'Edit the description' }).press('Enter');
    const field = page.getByRole('textbox', { name: 'Description' });
    assert.equal(await field.inputValue(), description);
    await field.fill('Never written');
    await page.keyboard.press('Escape');
    await page.getByText('children indented').waitFor();
    await page.getByRole('button', { name: 'Edit the description' }).press('Enter');
    await page.locator('drover-task').getByRole('button', { name: 'Cancel' }).press('Enter');
    await page.getByText('children indented').waitFor();
    // The key that pressed Cancel does not press the button that has the focus now.
    assert.equal(await field.count(), 0);
    await page.getByRole('button', { name: 'Edit the description' }).press('Enter');
    await field.fill('Print it.');
    await page.keyboard.press('Control+Enter');
    await view.host.waitFor('task.edit', 1);
    await page.getByLabel('Criterion 1', { exact: true }).fill('A tree of any depth is printed');
    await page.keyboard.press('Enter');
    await view.host.waitFor('task.edit', 2);
    await page.getByLabel('Add a criterion').fill('It is fast');
    await page.keyboard.press('Enter');
    await view.host.waitFor('task.edit', 3);
    await page.getByRole('button', { name: 'Remove criterion 2' }).click();
    await view.host.waitFor('task.edit', 4);
    assert.deepEqual(edits(), [
      { id: 'print', title: 'Print the whole tree' },
      { id: 'print', description: 'Print it.' },
      { id: 'print', accept: ['A tree of any depth is printed', criteria[1]] },
      { id: 'print', accept: [...criteria, 'It is fast'] },
      { id: 'print', accept: [criteria[0]] },
    ]);
    await view.close();
  });

  test('properties, dependencies in both directions and sub-tasks are edited', async () => {
    await open();
    const { page, host } = view;
    host.action('pick', () => ({ id: 'readme' }));
    await page.getByLabel('Agent', { exact: true }).selectOption('claude');
    await page.getByLabel('Model', { exact: true }).fill('opus');
    await page.keyboard.press('Tab');
    await page.getByLabel('Priority', { exact: true }).selectOption('Critical');
    await page.getByLabel('Labels', { exact: true }).fill('cli, , docs');
    await page.keyboard.press('Tab');
    await page.getByLabel('Gate', { exact: true }).fill('npm run check');
    await page.keyboard.press('Tab');
    await page.getByLabel('Plan first', { exact: true }).selectOption('true');
    await page.getByLabel('Candidates', { exact: true }).fill('3');
    await page.keyboard.press('Tab');
    await page.getByLabel('Attempts', { exact: true }).fill('5');
    await page.keyboard.press('Tab');
    await page.getByLabel('Epic', { exact: true }).selectOption('A server');
    await page.getByRole('button', { name: 'Remove the dependency on Write the parser' }).click();
    await page.getByRole('button', { name: 'Add a task to wait for' }).click();
    await host.waitFor('task.edit', 10);
    await page.getByRole('button', { name: 'Add a task that waits for this one' }).click();
    await host.waitFor('task.edit', 11);
    assert.deepEqual(edits(), [
      { id: 'print', agent: 'claude' },
      { id: 'print', model: 'opus' },
      { id: 'print', priority: 10 },
      { id: 'print', labels: ['cli', 'docs'] },
      { id: 'print', gate: 'npm run check' },
      { id: 'print', plan: true },
      { id: 'print', best_of: 3 },
      { id: 'print', max_attempts: 5 },
      { id: 'print', epic: 'server' },
      { id: 'print', remove_blockers: ['parse'] },
      { id: 'print', add_blockers: ['readme'] },
      { id: 'readme', add_blockers: ['print'] },
    ]);
    await page.getByLabel('Add a sub-task').fill('Colours');
    await page.keyboard.press('Enter');
    assert.deepEqual(await host.waitFor('task.add'), { title: 'Colours', parent: 'print' });
    await page.getByRole('button', { name: 'Break wide lines' }).last().click();
    assert.deepEqual(await host.waitFor('openStream'), { task: 'print-wide' });
    await view.close();
  });

  test('a model is requested if the agent supports one, and can otherwise be removed', async () => {
    const model = (): ReturnType<typeof view.page.getByLabel> =>
      view.page.getByLabel('Model', { exact: true });
    await open({ agent: 'codex' });
    assert.equal(await model().isDisabled(), true);
    await view.close();
    await open({ agent: 'codex', model: 'opus' });
    await model().fill('');
    await view.page.keyboard.press('Tab');
    assert.deepEqual(await view.host.waitFor('task.edit'), { id: 'print', model: null });
    await view.close();
  });

  test('a refusal is shown beside the field, and a finished task is read-only', async () => {
    await open();
    view.host.backend('task.edit', () => {
      throw new Error('Labels must not be longer than 100 characters.');
    });
    await view.page.getByLabel('Labels', { exact: true }).fill('x');
    await view.page.keyboard.press('Enter');
    await view.page.getByRole('alert').filter({ hasText: 'not be longer' }).waitFor();
    await view.close();
    await open({ status: 'completed', branch: 'b', attempts: 0 }, { memory: { page: 'task' } });
    assert.equal(await view.page.getByRole('textbox', { name: 'Title' }).isDisabled(), true);
    assert.equal(await view.page.getByRole('button', { name: 'Edit the description' }).count(), 0);
    await view.close();
  });

  test('the history shows the changes, and arrow keys switch tabs', async () => {
    await open();
    const { page } = view;
    await page.getByText('History').click();
    await page.getByText('Edited: title, acceptance criteria').waitFor();
    await page.getByRole('tab', { name: 'Task' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tab', { name: 'Stream', selected: true }).waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.getByRole('textbox', { name: 'Title' }).waitFor();
    await view.close();
  });
});
