// A person lets one task run, and not the others: by the menu of the tree, by the menu of the board, and on the page of
// the task. Each time the checks and choices before a run come first.

import assert from 'node:assert/strict';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import { demoProject, directives } from './support/demo-project.ts';
import { endMessages } from './support/messages.ts';
import { chooseFromMenu, openDrover, quickPickRow, runCommand, webview } from './support/parts.ts';
import { row, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const [first, second, third, left] = [
  'Draw the cart',
  'Draw the shop',
  'Draw the lamp',
  'Draw the street',
] as const;

const followUp = 'Draw a roof over the cart';
const paused = 'Draw the moon';

suite('running a single task', () => {
  let project: Project;
  let bench: Workbench;

  suiteSetup(async function () {
    this.timeout(120_000);
    project = demoProject({ stepMs: 50 });
    await project.expect(0, ['init']);
    for (const title of [first, second, third, left]) await project.add(title);
    bench = await openWorkbench({ env: project.env, folder: project.root });
    await openDrover(bench.page);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await project?.drover(['server', 'stop', '--force']);
    await bench?.close();
    await project?.end(false);
  });

  const landed = async (...titles: readonly string[]): Promise<void> => {
    await eventually('only these have landed, and no run is active', async () => {
      const { tasks, run } = await project.status();
      const done = tasks.filter(({ status }) => status === 'completed').map(({ title }) => title);
      return run?.active === false && done.join() === titles.join();
    });
    const { tasks } = await project.status();
    assert.equal(tasks.find(({ title }) => title === left)?.status, 'ready');
  };

  const start = async (title: string): Promise<void> => {
    const box = bench.page.locator('.quick-input-widget');
    await box.getByText(`Run ${title}`).waitFor();
    await quickPickRow(bench.page, /1 task, up to 1 at once/).click();
  };

  test("it runs from the tree's menu", async () => {
    const tree = await treeOf(bench.page);
    await row(tree, first).click({ button: 'right' });
    await bench.page.getByRole('menuitem', { name: 'Run This Task' }).waitFor();
    await picture(bench.page, 'look-menu-task');
    await chooseFromMenu(bench.page, 'Run This Task');
    await start(first);
    await landed(first);
  });

  test('it runs from the button on its page', async () => {
    const tree = await treeOf(bench.page);
    await row(tree, second).dblclick();
    const page = await webview(bench.page, 'stream');
    await page.getByRole('button', { name: 'Run This Task' }).click();
    await start(second);
    await landed(first, second);
  });

  test('it runs from the menu of a card on the board', async () => {
    await runCommand(bench.page, 'Drover: Open Board and Graph');
    const board = await webview(bench.page, 'board');
    await board.getByText(third).first().click({ button: 'right' });
    await chooseFromMenu(bench.page, 'Run This Task');
    await start(third);
    await landed(first, second, third);
    await runCommand(bench.page, 'View: Close All Editors');
  });

  test('a message on the page of a finished task creates the follow-up task', async () => {
    const tree = await treeOf(bench.page);
    await row(tree, first).dblclick();
    const page = await webview(bench.page, 'stream');
    await page.getByRole('textbox').last().fill(followUp);
    await endMessages(bench.page);
    await picture(bench.page, 'look-follow-up');
    await page.getByRole('textbox').last().press('Enter');
    await row(tree, followUp).waitFor();
    await picture(bench.page, 'look-follow-up-made');
    await eventually('it runs, and alone', async () => {
      const { tasks, run } = await project.status();
      const status = (name: string) => tasks.find(({ title }) => title === name)?.status;
      assert.equal(status(left), 'ready');
      return run?.active === false && status(followUp) === 'completed';
    });
  });

  test('a paused task shows that on its row and on its page, and offers to continue', async () => {
    const tree = await treeOf(bench.page);
    const id = await project.add(paused, '--description', directives('sleep 600000'));
    await row(tree, paused).click({ button: 'right' });
    await chooseFromMenu(bench.page, 'Run This Task');
    await start(paused);
    await row(tree, paused).dblclick();
    const page = await webview(bench.page, 'stream');
    const pause = page.getByRole('button', { name: 'Pause', exact: true });
    await pause.waitFor();
    await eventually('its agent works', async () => (await project.task(id)).phase === 'agent');
    await pause.click();
    await eventually('it is paused', async () => (await project.task(id)).status === 'paused');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await picture(bench.page, 'look-paused');
    assert.deepEqual(bench.violations, []);
  });
});
