// From nothing to landed commits with the mouse: set up, plan in the side bar, drag, run the epic, watch, and see it land.

import assert from 'node:assert/strict';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import type { Frame } from '../host/browser.ts';
import { demoProject } from './support/demo-project.ts';
import { inTranscript, openDrover, quickPickRow, runCommand, webview } from './support/parts.ts';
import {
  dragThree,
  epicTitles,
  setUpByButton,
  taskTitles,
  writePlan,
} from './support/plan-in-side-bar.ts';
import { row, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

suite('the first run, with the mouse', () => {
  let project: Project;
  let bench: Workbench;
  let tree: Frame;

  suiteSetup(async function () {
    this.timeout(120_000);
    project = demoProject({ stepMs: 2_000 });
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
    await setUpByButton(tree);
  });

  test('five tasks and two epics are created in the side bar', async () => {
    await writePlan(project, bench, tree);
    await picture(bench.page, 'planned', true);
  });

  test('one task is dragged into an epic, then two at once', async () => {
    await dragThree(project, bench, tree);
    await picture(bench.page, 'dragged', true);
  });

  test('the epic runs after its checks were shown', async () => {
    await row(tree, epicTitles[0]).hover();
    await tree.getByRole('button', { name: `Run epic ${epicTitles[0]}` }).click();
    const start = quickPickRow(bench.page, '3 tasks, up to 3 at once');
    await start.waitFor();
    await picture(bench.page, 'checks', true);
    await start.click();
    // Immediately: the row shows it only while the agent is running.
    await eventually('a row says so', async () => {
      return (await row(tree, taskTitles[0]).getAttribute('aria-label'))?.includes('agent');
    });
    await eventually('an agent is at work', async () => {
      return (await project.status()).counts.in_progress > 0;
    });
  });

  test("a panel streams an agent's work", async () => {
    await row(tree, taskTitles[0]).dblclick();
    const stream = await webview(bench.page, 'stream');
    await inTranscript(stream, 'Reading the task.').waitFor();
    await picture(bench.page, 'stream', true);
    await stream.getByRole('article', { name: 'Agent: Ended' }).waitFor();
  });

  test('the tasks turn completed, and their commits have landed', async () => {
    for (const title of taskTitles.slice(0, 3)) {
      await eventually(`${title} is completed in the tree`, async () => {
        return (await row(tree, title).getAttribute('aria-label'))?.includes('completed');
      });
    }
    await row(tree, `${epicTitles[0]} 3/3`).waitFor();
    await project.epicLanded();
    await picture(bench.page, 'landed', true);
    const board = await project.status();
    assert.equal(board.counts.completed, 3);
    const completed = board.tasks.filter(({ status }) => status === 'completed');
    // The branch follows right after the epic has landed.
    await eventually('main has all three', () => {
      const files = project.git('ls-tree', '-r', '--name-only', 'main');
      return completed.every(({ id }) => files.includes(`demo/${id}.md`));
    });
    for (const task of completed) {
      assert.match(project.git('show', `main:demo/${task.id}.md`), new RegExp(task.title));
      const landed = task.landed_sha ?? '';
      assert.equal(project.git('merge-base', landed, 'main'), landed);
    }
    assert.equal(project.git('status', '--porcelain'), '');
  });

  test("the page of runs shows the run's results", async () => {
    await runCommand(bench.page, 'Drover: Show Runs');
    const runs = await webview(bench.page, 'run');
    await runs.getByRole('heading', { name: `Run of ${epicTitles[0]}` }).waitFor();
    const bars = runs.getByRole('listbox', { name: /^Attempts/ }).getByRole('option');
    await bars.nth(2).waitFor();
    await picture(bench.page, 'runs', true);
    const landed = runs.getByRole('region', { name: 'Landed', exact: true });
    assert.equal(await landed.getByRole('row').count(), 4);
  });

  test('nothing that the policy forbids was tried', () => {
    assert.deepEqual(bench.violations, []);
  });
});
