// From nothing to landed commits with the mouse: set up, plan in the side bar, drag, run the epic, watch, and see it land.

import assert from 'node:assert/strict';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import type { Frame } from '../host/browser.ts';
import { demoProject } from './support/demo-project.ts';
import { drag, openDrover, quickPickRow, webview } from './support/parts.ts';
import { pressTitleButton, row, titleField, treeOf, treeRows } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const epics = ['Take payments', 'Send receipts'] as const;
const tasks = [
  'Ask for the amount',
  'Call the bank',
  'Show what was paid',
  'Write the receipt',
  'Send it by mail',
] as const;

suite('the first run, with the mouse', () => {
  let project: Project;
  let bench: Workbench;
  let tree: Frame;

  suiteSetup(async function () {
    this.timeout(120_000);
    project = demoProject({ stepMs: 900 });
    const settings = { 'workbench.colorTheme': 'Dark 2026' };
    bench = await openWorkbench({ env: project.env, folder: project.root, settings });
    await openDrover(bench.page);
    tree = await treeOf(bench.page);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    await project?.end(false);
  });

  test('the repository is set up by a button', async () => {
    await tree.getByText('Drover is not set up in this repository yet').waitFor();
    await picture(bench.page, 'welcome', true);
    await tree.getByRole('button', { name: 'Set Up Drover' }).click();
    await tree.getByRole('button', { name: 'New Epic' }).waitFor();
  });

  test('five tasks and two epics are created in the side bar', async () => {
    await tree.getByRole('button', { name: 'New Task' }).click();
    for (const title of tasks) {
      await titleField(tree).fill(title);
      await titleField(tree).press(title === tasks.at(-1) ? 'Enter' : 'Shift+Enter');
      await row(tree, title).waitFor();
    }
    for (const title of epics) {
      await pressTitleButton(bench.page, 'New Epic');
      await titleField(tree).fill(title);
      await titleField(tree).press('Enter');
      await row(tree, title).waitFor();
    }
    const board = await project.status();
    assert.deepEqual(board.tasks.map(({ title }) => title).sort(), [...tasks].sort());
    assert.deepEqual(board.epics.map(({ title }) => title).sort(), [...epics].sort());
    await picture(bench.page, 'planned', true);
  });

  test('one task is dragged into an epic, then two at once', async () => {
    const [payments] = epics;
    await drag(bench.page, row(tree, tasks[0]), row(tree, payments));
    await eventually('the first task is in the epic', async () => {
      return (await inEpic(project, payments)).length === 1;
    });
    await row(tree, tasks[1]).click();
    await row(tree, tasks[2]).click({ modifiers: ['ControlOrMeta'] });
    await drag(bench.page, row(tree, tasks[2]), row(tree, payments));
    await eventually('three tasks are in the epic', async () => {
      return (await inEpic(project, payments)).length === 3;
    });
    assert.deepEqual(await inEpic(project, payments), tasks.slice(0, 3));
    await eventually('the tree shows them below it', async () => {
      const rows = await treeRows(tree);
      const at = rows.indexOf(`1 ${payments}`);
      const below = rows.slice(at + 1, at + 4);
      return tasks.slice(0, 3).every((title) => below.includes(`2 ${title}`));
    });
    await picture(bench.page, 'dragged', true);
  });

  test('the epic runs once its checks were seen', async () => {
    await row(tree, epics[0]).hover();
    await tree.getByRole('button', { name: `Run epic ${epics[0]}` }).click();
    const start = quickPickRow(bench.page, '3 tasks, up to 3 at once');
    await start.waitFor();
    await picture(bench.page, 'checks', true);
    await start.click();
    await eventually('an agent is at work', async () => {
      return (await project.status()).counts.in_progress > 0;
    });
  });

  test('a panel streams what an agent does', async () => {
    await eventually('a row says so', async () => {
      return (await row(tree, tasks[0]).getAttribute('aria-label'))?.includes('agent');
    });
    await row(tree, tasks[0]).dblclick();
    const stream = await webview(bench.page, 'stream');
    await stream.getByText('Reading the task.').waitFor();
    await picture(bench.page, 'stream', true);
    await stream.getByText('Ended', { exact: true }).waitFor();
  });

  test('the tasks turn completed, and their commits have landed', async () => {
    for (const title of tasks.slice(0, 3)) {
      await eventually(`${title} is completed in the tree`, async () => {
        return (await row(tree, title).getAttribute('aria-label'))?.includes('completed');
      });
    }
    await row(tree, `${epics[0]} 3/3`).waitFor();
    await picture(bench.page, 'landed', true);
    const board = await project.status();
    assert.equal(board.counts.completed, 3);
    for (const task of board.tasks.filter(({ status }) => status === 'completed')) {
      assert.match(project.git('show', `main:demo/${task.id}.md`), new RegExp(task.title));
      const landed = task.landed_sha ?? '';
      assert.equal(project.git('merge-base', landed, 'main'), landed);
    }
    assert.equal(project.git('status', '--porcelain'), '');
  });

  test('nothing that the policy forbids was tried', () => {
    assert.deepEqual(bench.violations, []);
  });
});

async function inEpic(project: Project, title: string): Promise<readonly string[]> {
  const board = await project.status();
  const id = board.epics.find((epic) => epic.title === title)?.id;
  return board.tasks.filter(({ epic_id }) => epic_id === id).map((task) => task.title);
}
