// A person lets one task run, and not the others: by the menu of the tree, and on the page of the task.

import assert from 'node:assert/strict';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import { demoProject } from './support/demo-project.ts';
import { openDrover, webview } from './support/parts.ts';
import { row, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const [first, second, left] = ['Draw the cart', 'Draw the shop', 'Draw the street'] as const;

suite('a single task runs', () => {
  let project: Project;
  let bench: Workbench;

  suiteSetup(async function () {
    this.timeout(120_000);
    project = demoProject({ stepMs: 50 });
    await project.expect(0, ['init']);
    for (const title of [first, second, left]) await project.add(title);
    bench = await openWorkbench({ env: project.env, folder: project.root });
    await openDrover(bench.page);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
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

  test('by the menu of the tree', async () => {
    const tree = await treeOf(bench.page);
    await row(tree, first).click({ button: 'right' });
    const item = bench.page.getByRole('menuitem', { name: 'Run This Task' });
    await item.waitFor();
    await picture(bench.page, 'look-menu-task');
    await item.click();
    await landed(first);
  });

  test('by the button on its page', async () => {
    const tree = await treeOf(bench.page);
    await row(tree, second).dblclick();
    const page = await webview(bench.page, 'stream');
    await page.getByRole('button', { name: 'Run This Task' }).click();
    await landed(first, second);
    assert.deepEqual(bench.violations, []);
  });
});
