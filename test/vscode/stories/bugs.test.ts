// Bugs that people met in the workbench, each as they met it: by the real mouse and keyboard, over a reload, without a run.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import type { Frame } from '../host/browser.ts';
import { demoProject, directives } from './support/demo-project.ts';
import { messageCame } from './support/messages.ts';
import { openDrover, quickPickRow, webview } from './support/parts.ts';
import { keysAct, row, treeOf } from './support/tree.ts';
import { openWorkbench, type Workbench } from './support/workbench.ts';

const epic = 'A small shop';
const breaks = 'Breaks every time';
const works = 'Takes a while';
const goes = 'Is taken out again';

suite('bugs that people found', () => {
  let project: Project;
  let bench: Workbench;
  let tree: Frame;
  /** The agent that works speaks until this file exists. */
  const letGo = (): string => join(project.folder, 'let-go');

  suiteSetup(async function () {
    this.timeout(120_000);
    project = demoProject({ stepMs: 1_500 });
    await project.expect(0, ['init']);
    const { id } = await project.json<{ id: string }>(['epic', 'add', epic]);
    const fails = ['--description', directives('fail'), '--max-attempts', '1'];
    await project.add(breaks, '--epic', id, ...fails);
    const talks = [`say-until ${letGo()} busy`, 'write made.txt made'];
    await project.add(works, '--epic', id, '--description', directives(...talks));
    await project.add(goes);
    bench = await openWorkbench({ env: project.env, folder: project.root });
    await openDrover(bench.page);
    tree = await treeOf(bench.page);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    await project?.end(false);
  });

  test('B22: the panel of a task that is removed closes', async () => {
    const tab = bench.page.locator('.tabs-container .tab', { hasText: goes });
    await row(tree, goes).dblclick();
    await tab.waitFor();
    await row(tree, goes).click();
    await keysAct(tree);
    await bench.page.keyboard.press('Delete');
    await tab.waitFor({ state: 'detached' });
  });

  test('B23: the tab of a running stream has an icon', async () => {
    await row(tree, epic).hover();
    await tree.getByRole('button', { name: `Run epic ${epic}` }).click();
    await quickPickRow(bench.page, '2 tasks').click();
    await eventually('it runs', async () => {
      const { tasks } = await project.status();
      return tasks.some(({ title, status }) => title === works && status === 'in_progress');
    });
    await row(tree, works).dblclick();
    const tab = bench.page.locator('.tabs-container .tab.active', { hasText: works });
    await tab.locator('[class*="codicon-sync"]').first().waitFor();
    writeFileSync(letGo(), '');
    await eventually('one has failed, the other has landed', async () => {
      const { tasks, run } = await project.status();
      const ended = tasks.filter(({ status }) => status === 'failed' || status === 'completed');
      return ended.length === 2 && run?.active === false;
    });
  });

  test('B8: the badge is back at once after a reload', async () => {
    await bench.reload();
    await openDrover(bench.page);
    const badge = bench.page.locator('.activitybar .action-item.checked .badge-content');
    await eventually('the badge counts what waits', async () => {
      return (await badge.first().textContent())?.trim() === '1';
    });
    tree = await treeOf(bench.page);
  });

  test('B14: the checks before a run offer to retry failed tasks', async () => {
    await row(tree, epic).hover();
    await tree.getByRole('button', { name: `Run epic ${epic}` }).click();
    await quickPickRow(bench.page, 'Retry 1 failed task and run').waitFor();
    await bench.page.keyboard.press('Escape');
  });

  test('B13: Retry starts a run if none is active', async () => {
    const inbox = await webview(bench.page, 'inbox');
    await inbox.getByRole('button', { name: 'Retry', exact: true }).click();
    await messageCame(bench.page, `A run of ${epic} has started again`);
    await eventually('its agent works', async () => {
      const { tasks } = await project.status();
      return tasks.some(({ title, attempts, status }) => {
        return title === breaks && (status === 'in_progress' || attempts > 0);
      });
    });
  });
});
