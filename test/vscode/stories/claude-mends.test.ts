// The whole way of a plan with the real Claude Code, which has a model API on loopback: planned from a prompt, run, a permission
// given, a gate that fails and says why, words for the next attempt, and landed. The pictures are those of the documents.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureAgents } from '../../agents-under-test/install.mjs';
import type { FakeModelApi, Step } from '../../doubles/fake-model-api/fake-model-api.mjs';
import { claudeEnvironment, says, startModelApi } from '../../e2e/support/claude-project.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { makeProject, type Project } from '../../e2e/support/project.ts';
import type { Frame } from '../host/browser.ts';
import { endMessages, message, messageCame, shownMessage } from './support/messages.ts';
import { answerInputBox, openDrover, quickPickRow, runCommand, webview } from './support/parts.ts';
import { setUpByButton } from './support/plan-in-side-bar.ts';
import { row, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const title = 'Add up the cart in cents';
const epic = 'Right totals';
const words = 'Round half up.';
const task = {
  key: 'cents',
  epic: 'totals',
  title,
  description:
    'Change `cart.ts` so that a **total** is never off by a cent.\n\n| price | shown |\n|---|--:|\n| 10 + 20 | 30 |',
  type: 'feature',
  priority: 'normal',
  blocked_by: [],
  acceptance_criteria: ['The total of 10 and 20 is 30'],
};
const plan = {
  epics: [{ key: 'totals', title: epic, description: 'Totals that are right.' }],
  tasks: [task, { ...task, key: 'help', title: 'Describe the totals', blocked_by: ['cents'] }],
};
const cart = 'export function total(prices: number[]): number {\n  return prices.length;\n}\n';
const gate = [
  'if grep -q "count" cart.ts; then',
  'echo "not ok 1 - the total of 10 and 20 is 30"; echo "  cart.ts:2: expected 30, got 2"; exit 1; fi',
].join(' ');

suite('a plan by Claude Code that fails once', () => {
  let fake: FakeModelApi;
  let project: Project;
  let bench: Workbench;
  let tree: Frame;

  suiteSetup(async function () {
    this.timeout(600_000);
    const { claude } = await ensureAgents();
    fake = await startModelApi();
    fake.setScript({ conversations: script() });
    project = makeProject({
      env: claudeEnvironment(claude, fake),
      settings: `max_workers = 2\nmax_attempts = 1\n[gate]\ncommand = "sh check.sh"\n`,
    });
    writeFileSync(join(project.root, 'cart.ts'), cart);
    // Not as a command in the settings: prompts name the gate, and its text must come only from its
    // failure.
    writeFileSync(join(project.root, 'check.sh'), `${gate}\n`);
    project.git('add', 'cart.ts', 'check.sh');
    project.git('commit', '-qm', 'Add the cart');
    const settings = { 'workbench.colorTheme': 'Light 2026' };
    bench = await openWorkbench({ env: project.env, folder: project.root, settings });
    await openDrover(bench.page);
    tree = await treeOf(bench.page);
    await setUpByButton(tree);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    await project?.end(false);
    await fake?.close();
  });

  test('it is planned from a prompt, and shown before it is added', async () => {
    const { page } = bench;
    await runCommand(page, 'Drover: Plan from a Prompt');
    await answerInputBox(page, 'The totals of the cart are wrong');
    const plan = await webview(page, 'plan');
    await plan.getByRole('checkbox', { name: `Add ${title}` }).waitFor();
    await plan.getByText('Waits for').waitFor();
    await shownMessage(page, 'planning').waitFor({ state: 'hidden' });
    await picture(page, 'plan-preview', true);
    assert.deepEqual((await project.status()).tasks, []);
    await plan.getByRole('button', { name: 'Add 2 Tasks' }).click();
    await messageCame(page, 'Added: 2 tasks');
    await row(tree, title).waitFor();
  });

  test("the task's description is on its page", async () => {
    await row(tree, title).dblclick();
    const stream = await webview(bench.page, 'stream');
    await stream.getByRole('tab', { name: 'Task' }).click();
    await stream.getByRole('columnheader', { name: 'price' }).waitFor();
    await picture(bench.page, 'task-page', true);
  });

  test('it runs, shows its work, and asks', async () => {
    const { page } = bench;
    await row(tree, epic).hover();
    await tree.getByRole('button', { name: `Run epic ${epic}` }).click();
    await quickPickRow(page, '2 tasks').click();
    const stream = await webview(page, 'stream');
    await stream.getByRole('tab', { name: 'Stream' }).click();
    await stream.getByRole('button', { name: 'cart.ts:2' }).waitFor({ timeout: 60_000 });
    const question = await eventually('Claude asks', async () => {
      return (await project.status()).questions[0];
    });
    const buttons = stream.locator(`[data-question="${question.id}"]`);
    await buttons.first().waitFor();
    await picture(page, 'transcript', true);
    await buttons.first().click();
  });

  test('the gate fails, and the relevant lines of its output are visible', async () => {
    const { page } = bench;
    await eventually('the task has failed', async () => {
      return (await project.status()).tasks.find(({ status }) => status === 'failed');
    });
    const stream = await webview(page, 'stream');
    const failed = stream.getByRole('group', { name: 'What failed' });
    await failed.getByRole('button', { name: 'Gate Output' }).waitFor();
    const inbox = await webview(page, 'inbox');
    await inbox.getByText('the total of 10 and 20 is 30').first().waitFor();
    await endMessages(page);
    await picture(page, 'gate-failure', true);
  });

  test('a comment and Retry send it back, and it lands', async () => {
    const { page } = bench;
    const stream = await webview(page, 'stream');
    await stream.getByRole('textbox', { name: /Tell the agent/ }).fill(words);
    await stream.getByRole('button', { name: 'Send' }).click();
    await stream.getByText(`The agent will receive: ${words}`).waitFor();
    const failed = stream.getByRole('group', { name: 'What failed' });
    await failed.getByRole('button', { name: 'Retry' }).click();
    await row(tree, `${epic} 2/2`).waitFor({ timeout: 120_000 });
    await message(page, '2 landed on main');
    assert.match(project.git('show', 'main:cart.ts'), /reduce/);
    assert.ok(fake.requests.some(({ body }) => JSON.stringify(body).includes(words)));
    await picture(page, 'mended', true);
    await endMessages(page);
    assert.deepEqual(fake.failures, []);
    assert.ok(fake.requests.every(({ known }) => known));
    assert.deepEqual(bench.violations, []);
  });

  test('the board and the runs show it', async () => {
    const { page } = bench;
    await runCommand(page, 'Drover: Open Board');
    await (await webview(page, 'board')).getByText(title).first().waitFor();
    await picture(page, 'board', true);
  });

  test('the walkthrough shows its pictures', async () => {
    const { page } = bench;
    // Its page is drawn again when the room for it changes.
    await runCommand(page, 'View: Toggle Primary Side Bar Visibility');
    await runCommand(page, 'Drover: Get Started');
    await eventually('its picture is loaded', async () => {
      const loaded = page
        .frames()
        .map((frame) =>
          frame.evaluate(() => [...document.images].some((image) => image.naturalWidth > 1_000)),
        );
      return (await Promise.all(loaded.map((one) => one.catch(() => false)))).includes(true);
    });
    await picture(page, 'walkthrough', true);
  });
});

const findings = [
  '## What is wrong',
  '`cart.ts:2` counts the prices. It should *add* them:',
  '',
  '| prices | now | wanted |',
  '|---|--:|--:|',
  '| 10, 20 | 2 | **30** |',
  '| none | 0 | 0 |',
].join('\n');

function script(): { name: string; match: object; steps: Step[] }[] {
  const file = `{{cwd}}/cart.ts`;
  const read: Step = { say: findings, tools: [{ name: 'Read', input: { file_path: file } }] };
  const edit = (before: string, after: string): Step => ({
    tools: [{ name: 'Edit', input: { file_path: file, old_string: before, new_string: after } }],
  });
  const ask: Step = {
    tools: [
      {
        name: 'Bash',
        input: { command: 'sh -c "date > asked.txt"', description: 'Note the time' },
      },
    ],
  };
  const planning = { prompt: 'You plan work', tool: 'submit_plan' };
  return [
    { name: 'plan', match: planning, steps: [{ tools: [{ name: 'submit_plan', input: plan }] }] },
    {
      name: 'mend',
      match: { prompt: 'expected 30, got 2', hasTools: true },
      steps: [
        read,
        edit('prices.length', 'prices.reduce((sum, price) => sum + price, 0)'),
        says('Now the prices are added.'),
      ],
    },
    {
      name: 'help',
      match: { prompt: 'Task: Describe the totals', hasTools: true },
      steps: [
        {
          tools: [
            { name: 'Write', input: { file_path: '{{cwd}}/HELP.md', content: '# Totals\n' } },
          ],
        },
        says('Described.'),
      ],
    },
    {
      name: 'cents',
      match: { prompt: `Task: ${title}`, hasTools: true },
      steps: [
        read,
        edit('return prices.length;', 'const count = prices.length;\n  return count;'),
        ask,
        says('It counts with a name now.'),
      ],
    },
  ];
}
