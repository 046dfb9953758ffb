// Two repositories in one window: the number of both leads to the one in which something waits.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import { demoProject, directives } from './support/demo-project.ts';
import { openDrover, webview } from './support/parts.ts';
import { row, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const quiet = 'Draw the cart';
const asks = 'Name the price';

suite('two repositories in a window', () => {
  let first: Project;
  let second: Project;
  let bench: Workbench;

  suiteSetup(async function () {
    this.timeout(180_000);
    first = demoProject();
    second = demoProject({ stepMs: 50 });
    for (const project of [first, second]) await project.expect(0, ['init']);
    await first.add(quiet);
    const question = directives('ask Which currency? | EUR | USD', 'write price.txt {{answer}}');
    await second.add(asks, '--description', question);
    await second.expect(0, ['run', '--detach']);
    await eventually('its agent asks', async () => (await second.status()).questions.length === 1);
    const workspace = join(first.folder, 'shops.code-workspace');
    const folders = [first.root, second.root].map((path) => ({ path }));
    writeFileSync(workspace, JSON.stringify({ folders }));
    bench = await openWorkbench({ env: first.env, workspace });
    await openDrover(bench.page);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await second?.drover(['server', 'stop', '--force']);
    await bench?.close();
    await second?.end(false);
    await first?.end(false);
  });

  test('B17: the combined count of both repositories leads to the inbox of the repository that waits', async () => {
    const { page } = bench;
    const tree = await treeOf(page);
    await row(tree, quiet).waitFor();
    const inbox = await webview(page, 'inbox');
    await inbox.getByText('Nothing waits for you').first().waitFor();
    const item = page.locator('.statusbar-item[id$="drover.status"]');
    await eventually('the status bar counts both', async () => {
      return /1 waiting for you/u.test((await item.getAttribute('aria-label')) ?? '');
    });
    await item.click();
    await inbox.getByText('Which currency?').first().waitFor();
    await row(tree, asks).waitFor();
    await picture(page, 'look-two-repositories');
    assert.deepEqual(bench.violations, []);
  });
});
