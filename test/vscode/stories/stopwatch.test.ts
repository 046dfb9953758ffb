// From an empty folder to two agents at once and the first landed commit, against the clock: the sample with the mouse alone, and
// an own repository with the keyboard alone.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import type { StatusSnapshot } from '../../../server/protocol/api.ts';
import type { Frame, Page } from '../host/browser.ts';
import { demoProject } from './support/demo-project.ts';
import { fieldFocused, reachTree, tabTo } from './support/keys.ts';
import { messageCame } from './support/messages.ts';
import { offeredCommand, openDrover, quickPickRow } from './support/parts.ts';
import { row, titleField, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const twoAgentsMaxMs = 180_000;

suite('stopwatch: from an empty folder to the first landed commit', () => {
  let project: Project;
  let bench: Workbench;
  /** The repository that the story makes. */
  let root: string;
  let startedMs = 0;

  setup(() => {
    project = demoProject({ stepMs: 1_500 });
  });

  teardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    // Its socket is gone with the window's own folder: only its pid is left to end it by.
    const address = readFileSync(join(root, '.drover', 'backend.json'), 'utf8');
    process.kill((JSON.parse(address) as { pid: number }).pid, 'SIGTERM');
    await project?.end(false);
  });

  const untilLanded = async (): Promise<void> => {
    await eventually('the first task has landed', async () => {
      const { tasks } = await project.json<StatusSnapshot>(['status'], { cwd: root });
      return tasks.some(({ landed_sha }) => landed_sha !== null);
    });
  };

  /** As a person sees it: two rows say that an agent works. */
  const untilTwoAgents = async (tree: Frame): Promise<void> => {
    await eventually('two agents are visible at once', async () => {
      const labels = await tree
        .getByRole('treeitem')
        .evaluateAll((rows) => rows.map((each) => each.getAttribute('aria-label') ?? ''));
      return labels.filter((label) => / agent|, working/.test(label)).length >= 2;
    });
  };

  const tell = (how: string, what: string): number => {
    const ms = Date.now() - startedMs;
    console.log(`      ${how}: ${what} after ${(ms / 1_000).toFixed(1)} s`);
    return ms;
  };

  test('the sample works with only the mouse', async function () {
    this.timeout(300_000);
    root = join(project.env['HOME'] ?? '', 'drover-sample', 'shop');
    bench = await openWorkbench({ env: project.env });
    const { page } = bench;
    startedMs = Date.now();
    await openDrover(page);
    await (await treeOf(page)).getByRole('button', { name: 'Try a Sample Project' }).click();
    await page
      .locator('.quick-input-widget')
      .getByRole('button', { name: 'Create Sample Here' })
      .click();
    // The window opens again with the sample's folder.
    await messageCame(page, 'The sample is ready');
    // It stays in the view, while a message hides after a few seconds.
    await (await treeOf(page)).getByRole('button', { name: 'Run the Epic' }).click();
    await quickPickRow(page, /\d+ tasks, up to \d+ at once/).click();
    const tree = await treeOf(page);
    await untilTwoAgents(tree);
    assert.ok(tell('mouse', 'two agents at once') <= twoAgentsMaxMs);
    await picture(page, 'stopwatch-mouse');
    await untilLanded();
    tell('mouse', 'the first landed commit');
    assert.deepEqual(bench.violations, []);
  });

  test("a user's own repository works with only the keyboard", async function () {
    this.timeout(300_000);
    root = join(project.folder, 'own');
    mkdirSync(root);
    writeFileSync(join(root, 'package.json'), '{ "scripts": { "test": "node --version" } }\n');
    bench = await openWorkbench({ env: project.env, folder: root });
    const { page } = bench;
    startedMs = Date.now();
    const tree = await reachTree(page);
    await tabTo(page, tree, 'Initialize Git Repository');
    await page.keyboard.press('Enter');
    await tree.getByRole('button', { name: 'Set Up Drover' }).waitFor();
    await tabTo(page, tree, 'Set Up Drover');
    await page.keyboard.press('Enter');
    await quickPickRow(page, 'Found in package.json').waitFor();
    await picture(page, 'stopwatch-set-up');
    await page.keyboard.press('Enter');
    await quickPickRow(page, 'recommended').waitFor();
    await page.keyboard.press('Enter');
    await messageCame(page, 'Commit it to share them');
    const settings = readFileSync(join(root, '.drover.toml'), 'utf8');
    assert.match(settings, /^max_workers = \d+$/m);
    assert.match(settings, /\[gate\]\ncommand = "npm test"\n/);
    await tree.getByRole('button', { name: 'New Task' }).waitFor();
    await tabTo(page, tree, 'New Task');
    await page.keyboard.press('Enter');
    for (const [title, key] of [
      ['Write the store', 'Shift+Enter'],
      ['Write the help', 'Enter'],
    ] as const) {
      await fieldFocused(tree);
      await page.keyboard.type(title);
      await page.keyboard.press(key);
      await row(tree, title).waitFor();
    }
    await titleField(tree).waitFor({ state: 'detached' });
    await runByKeys(page);
    await untilTwoAgents(tree);
    assert.ok(tell('keyboard', 'two agents at once') <= twoAgentsMaxMs);
    await picture(page, 'stopwatch-keyboard');
    await untilLanded();
    tell('keyboard', 'the first landed commit');
    const log = execFileSync('git', ['log', '--format=%s', 'HEAD'], {
      cwd: root,
      env: { ...project.env },
      encoding: 'utf8',
    });
    assert.match(log, /Write the (?:store|help)/);
    assert.deepEqual(bench.violations, []);
  });
});

async function runByKeys(page: Page): Promise<void> {
  await offeredCommand(page, 'Drover: Run All Open Tasks');
  await page.keyboard.press('Enter');
  // It is the active row, and Enter brings its remedy.
  await quickPickRow(page, 'has no commit yet').waitFor();
  await page.keyboard.press('Enter');
  await quickPickRow(page, 'Commit 2 files').waitFor();
  await page.keyboard.press('Enter');
  await quickPickRow(page, '2 tasks, up to').waitFor();
  await page.keyboard.press('Enter');
}
