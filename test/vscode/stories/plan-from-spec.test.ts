// A design in the explorer becomes a plan on a page, is changed as text, and is added to the board; a model API on loopback
// plans it. Both by context menus: VS Code's own of a file, and the one of a task.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type FakeModelApi,
  startFakeModelApi,
} from '../../doubles/fake-model-api/fake-model-api.mjs';
import { dummyKey } from '../../e2e/support/claude-project.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import type { Frame, Locator } from '../host/browser.ts';
import { demoProject } from './support/demo-project.ts';
import { message } from './support/messages.ts';
import { openDrover, webview } from './support/parts.ts';
import { row, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const planned = (key: string, blockers: readonly string[] = []): object => ({
  key,
  epic: 'links',
  title: `Build ${key}`,
  description: `What the design says about ${key}.`,
  type: 'feature',
  priority: 'normal',
  blocked_by: blockers,
  acceptance_criteria: [`${key} is tested`],
});
const plan = {
  epics: [{ key: 'links', title: 'Short links', description: 'Links and their short names.' }],
  tasks: [planned('storage'), planned('redirect', ['storage'])],
};

suite('a plan from a design, in VS Code', () => {
  let fake: FakeModelApi;
  let project: Project;
  let bench: Workbench;

  suiteSetup(async function () {
    this.timeout(120_000);
    fake = await startFakeModelApi();
    const match = { prompt: 'You plan work', tool: 'submit_plan' };
    const steps = [{ tools: [{ name: 'submit_plan', input: plan }] }];
    fake.setScript({ conversations: [{ name: 'plan', match, steps }] });
    project = demoProject({ env: { ANTHROPIC_BASE_URL: fake.url, ANTHROPIC_API_KEY: dummyKey } });
    const design = '# Short links\n\nA small server that gives long addresses short names.\n';
    writeFileSync(join(project.root, 'design.md'), design);
    await project.expect(0, ['init']);
    bench = await openWorkbench({ env: project.env, folder: project.root });
    await openDrover(bench.page);
    await (await treeOf(bench.page)).getByRole('button', { name: 'New Epic' }).waitFor();
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    await project?.end(false);
    await fake?.close();
  });

  /** Opens the menu of this place and chooses from it. */
  const chooseFromMenu = async (place: Locator, item: string): Promise<void> => {
    const entry = bench.page.locator('.monaco-menu .action-item', { hasText: item }).first();
    let isClicked = false;
    await eventually(`${item} is chosen from the menu`, async () => {
      const isOpen = await entry.isVisible();
      if (isClicked && !isOpen) return true;
      try {
        if (!isOpen) await place.click({ button: 'right', timeout: 3_000 });
        await entry.click({ timeout: 3_000 });
        isClicked = true;
        // For a tenth of a second a menu takes no click, which would be the one that has opened it: then once more.
        await entry.waitFor({ state: 'hidden', timeout: 1_000 });
      } catch {
        if (!isClicked) await bench.page.keyboard.press('Escape'); // a menu without the entry
      }
      return false;
    });
  };

  const addToBoard = async (words: string): Promise<void> => {
    await message(bench.page, words, { answer: 'Add to the Board' });
  };

  test('the design is planned from its menu, and nothing is added yet', async () => {
    const { page } = bench;
    await page.locator('.activitybar a.action-label[aria-label^="Explorer"]').click();
    const file = page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'design.md' });
    await chooseFromMenu(file, 'Plan from Spec');
    const shown = await webview(page, 'plan');
    await shown.getByRole('heading', { name: 'Plan: 1 epic, 2 tasks' }).waitFor();
    await shown.getByRole('checkbox', { name: 'Add Build redirect' }).waitFor();
    await picture(page, 'plan-page');
    assert.deepEqual((await project.status()).tasks, []);
    await shown.getByRole('button', { name: 'Edit as Text' }).click();
    await page.locator('.view-line', { hasText: 'Build redirect' }).first().waitFor();
    await message(bench.page, 'Planned: 2 tasks');
    await picture(page, 'plan-from-spec');
    assert.deepEqual((await project.status()).tasks, []);
  });

  test('a plan that cannot be read is refused with its line, and nothing is added', async () => {
    const { page } = bench;
    await page.locator('.view-line', { hasText: 'Build redirect' }).first().click();
    await page.keyboard.press('Control+Home');
    await page.keyboard.type('no task');
    await page.keyboard.press('Enter');
    await addToBoard('Planned: 2 tasks');
    await message(bench.page, 'Nothing was added: line 1');
    assert.deepEqual((await project.status()).tasks, []);
  });

  test('a plan that is corrected in the editor is added as corrected', async () => {
    const { page } = bench;
    await page.locator('.view-line', { hasText: 'no task' }).first().click();
    await page.keyboard.press('Control+Shift+K'); // deletes the line
    await addToBoard('Nothing was added: line 1');
    await message(bench.page, 'Added: 2 tasks');
    const { tasks, epics } = await project.status();
    assert.deepEqual(
      tasks.map(({ title }) => title),
      ['Build storage', 'Build redirect'],
    );
    assert.deepEqual(
      epics.map(({ title }) => title),
      ['Short links'],
    );
    const [storage, redirect] = tasks;
    assert.deepEqual(redirect?.blocked_by, [storage?.id]);
  });

  test('a task is paused from its own menu', async () => {
    await openDrover(bench.page);
    const tree: Frame = await treeOf(bench.page);
    await chooseFromMenu(row(tree, 'Build storage'), 'Pause');
    await eventually('it is paused', async () => {
      const { tasks } = await project.status();
      return tasks.find(({ title }) => title === 'Build storage')?.status === 'paused';
    });
    assert.deepEqual(bench.violations, []);
  });
});
