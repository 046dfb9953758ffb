// Pictures of the workbench that the other stories do not take, for a person to look at: dark and high contrast, wide and
// narrow. They are in `out/stories/`, with names that begin with `look-`.

import assert from 'node:assert/strict';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import type { Frame } from '../host/browser.ts';
import { demoProject, directives } from './support/demo-project.ts';
import { openDrover, quickPickRow, runCommand, webview } from './support/parts.ts';
import { row, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const agents = 16;
const epic = 'Open the shop';
const owners = ['Name the first owner', 'Name the second owner'] as const;

suite('pictures of the workbench', () => {
  let project: Project;
  let bench: Workbench;

  suiteSetup(async function () {
    this.timeout(240_000);
    project = demoProject({ workers: agents, stepMs: 300 });
    await project.expect(0, ['init']);
    for (const [at, title] of owners.entries()) {
      const description = directives(`write owner.txt owner-${at + 1}`);
      await project.add(title, '--description', description, '--max-attempts', '1');
    }
    await project.expect(2, ['run', '--workers', '2']);
    const { id } = await project.json<{ id: string }>(['epic', 'add', epic]);
    for (let at = 1; at <= agents; at += 1) {
      const asks = at === 3 ? ['ask Which currency is shown first? | EUR | USD'] : [];
      const work = [
        'say I read the shop first.',
        ...asks,
        'sleep 600000',
        `write part-${at}.txt x`,
      ];
      await project.add(
        `Build part ${at} of the shop`,
        '--epic',
        id,
        '--description',
        directives(...work),
      );
    }
    const settings = { 'workbench.colorTheme': 'Dark 2026' };
    bench = await openWorkbench({ env: project.env, folder: project.root, settings });
    await openDrover(bench.page);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await project?.drover(['server', 'stop', '--force']);
    await bench?.close();
    await project?.end(false);
  });

  const wear = async (theme: string): Promise<Frame> => {
    bench.change({ 'workbench.colorTheme': theme });
    await bench.reload();
    await openDrover(bench.page);
    return await treeOf(bench.page);
  };

  test('the checks before a run, the grid of sixteen, and the board on a narrow window', async function () {
    this.timeout(180_000);
    const { page } = bench;
    const tree = await treeOf(page);
    await row(tree, epic).hover();
    await tree.getByRole('button', { name: `Run epic ${epic}` }).click();
    const start = quickPickRow(page, `${agents} tasks, up to`);
    await start.waitFor();
    await picture(page, 'look-checks-dark');
    await start.click();
    await eventually('all agents work', async () => {
      return (await project.status()).counts.in_progress === agents;
    });
    await runCommand(page, 'Drover: Open All Agents');
    const grid = await webview(page, 'grid');
    await grid.getByText('I read the shop first.').nth(3).waitFor();
    await picture(page, 'look-grid-dark');
    await page.setViewportSize({ width: 1_000, height: 700 });
    await runCommand(page, 'Drover: Open Board and Graph');
    await (await webview(page, 'board')).getByText('Build part 3').first().waitFor();
    await picture(page, 'look-board-dark-1000');
    await page.setViewportSize({ width: 1_280, height: 800 });
  });

  test('hover and inbox in high contrast', async function () {
    this.timeout(180_000);
    const tree = await wear('Default High Contrast');
    const { page } = bench;
    const inbox = await webview(page, 'inbox');
    await inbox.getByText('Which currency').first().waitFor();
    await row(tree, 'Build part 3').hover();
    await picture(page, 'look-inbox-high-contrast');
    assert.deepEqual(bench.violations, []);
    assert.match((await row(tree, 'Build part 3').getAttribute('title')) ?? '', /Build part 3/);
  });

  test('tree, board and conflict in light high contrast', async function () {
    this.timeout(240_000);
    const tree = await wear('Default High Contrast Light');
    const { page } = bench;
    const inbox = await webview(page, 'inbox');
    // The hover of a row is the browser's own, which no picture shows.
    await row(tree, 'Build part 3').hover();
    assert.match((await row(tree, 'Build part 3').getAttribute('title')) ?? '', /Asks you/);
    await picture(page, 'look-board-high-contrast-light');
    await inbox.getByRole('button', { name: 'Merge in Editor' }).first().click();
    const editor = page.locator('.merge-editor');
    await editor.waitFor();
    await editor
      .getByText(/^owner-[12]$/)
      .first()
      .waitFor();
    await picture(page, 'look-conflict-high-contrast-light');
    assert.deepEqual(bench.violations, []);
  });
});
