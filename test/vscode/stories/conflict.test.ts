// Two tasks change the same line: the one that cannot land is merged in VS Code's own merge editor, and lands. VS Code
// saves by itself here, so that the result is the base as soon as the editor opens.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import { demoProject, directives } from './support/demo-project.ts';
import { message, messageCame, shownMessage } from './support/messages.ts';
import { dialog, openDrover, runCommand, webview } from './support/parts.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const base = 'A project.\n';
const titles = ['Name the first owner', 'Name the second owner'] as const;

suite('a conflict in the merge editor', () => {
  let project: Project;
  let bench: Workbench;

  suiteSetup(async function () {
    this.timeout(120_000);
    project = demoProject({ stepMs: 700 });
    await project.expect(0, ['init']);
    for (const [at, title] of titles.entries()) {
      const description = directives(`write README.md owner-${at + 1}`);
      await project.add(title, '--description', description, '--max-attempts', '1');
    }
    bench = await openWorkbench({ env: project.env, folder: project.root });
    await openDrover(bench.page);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    await project?.end(false);
  });

  test('the inbox offers the merge, which shows the landed version on its own line', async () => {
    await project.expect(2, ['run', '--workers', '2']);
    const { tasks } = await project.status();
    const lost = tasks.find(({ status }) => status === 'conflict');
    assert.deepEqual(lost?.conflict_files, ['README.md']);
    const inbox = await webview(bench.page, 'inbox');
    await inbox.getByRole('button', { name: 'Merge in Editor' }).click();
    const editor = bench.page.locator('.merge-editor');
    await editor.waitFor();
    await editor.getByText('Landed', { exact: false }).first().waitFor();
    await editor
      .getByText(/^owner-[12]$/)
      .first()
      .waitFor();
    await picture(bench.page, 'conflict');
  });

  test('a merge without resolved conflicts is not offered, and lands only if a person insists', async () => {
    const { page } = bench;
    await eventually('VS Code has saved the base as the result', () => result() === base);
    await useThisMerge();
    await dialog(page).getByText('Undo both changes in README.md?').waitFor();
    await picture(page, 'conflict-undecided');
    await dialog(page).getByRole('button', { name: 'Cancel' }).click();
    await page.locator('.merge-editor').waitFor();
    await runCommand(page, 'Notifications: Show Notifications');
    await page.locator('.notifications-center.visible').waitFor();
    assert.equal(await shownMessage(page, 'is merged').isVisible(), false);
    await runCommand(page, 'Notifications: Hide Notifications');
    const { tasks } = await project.status();
    assert.deepEqual(tasks.map(({ status }) => status).toSorted(), ['completed', 'conflict']);
  });

  test('a reverted choice is not offered, and the change is shown before it lands', async () => {
    const { page } = bench;
    await runCommand(page, 'Merge Editor: Accept All Incoming Changes from Left');
    await eventually('the choice is saved', () => /^owner-[12]/u.test(result()));
    await messageCame(page, 'README.md is merged: no change in README.md.');
    await runCommand(page, 'Merge Editor: Reset Result');
    await eventually('the base is saved again', () => result() === base);
    await runCommand(page, 'Merge Editor: Accept All Current Changes from Right');
    await eventually('the choice is saved', () => /^owner-[12]/u.test(result()));
    await message(page, /README\.md is merged: \+1 −1 in README\.md/u, {
      answer: 'Land Merge',
    });
    await dialog(page).getByText('It lands +1 −1 in README.md.').waitFor();
    await picture(page, 'conflict-landing');
    await dialog(page).getByRole('button', { name: 'Land Merge' }).click();
    await messageCame(page, 'is being tested and lands');
    await eventually('both are completed', async () => {
      const { tasks } = await project.status();
      return tasks.every(({ status }) => status === 'completed');
    });
    assert.match(project.git('show', 'main:README.md'), /owner-[12]/);
    assert.equal(await page.locator('.merge-editor').isVisible(), false);
    assert.equal(await page.locator('.tab', { hasText: 'README.md' }).count(), 0);
    assert.deepEqual(bench.violations, []);
  });

  async function useThisMerge(): Promise<void> {
    const button = bench.page.locator(
      '.editor-actions a.action-label[aria-label^="Use This Merge"]',
    );
    await button.click();
  }

  /** The result as VS Code has saved it. */
  function result(): string {
    const [file] = globSync('ud/User/workspaceStorage/*/*/merges/**/README.md', {
      cwd: bench.host.folder,
    });
    return file === undefined ? '' : readFileSync(join(bench.host.folder, file), 'utf8');
  }
});
