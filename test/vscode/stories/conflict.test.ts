// Two tasks change the same line: the one that cannot land is merged in VS Code's own merge editor, and lands.

import assert from 'node:assert/strict';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import { demoProject, directives } from './support/demo-project.ts';
import { messageCame } from './support/messages.ts';
import { dialog, openDrover, runCommand, webview } from './support/parts.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const titles = ['Name the first owner', 'Name the second owner'] as const;

suite('a conflict in the merge editor', () => {
  let project: Project;
  let bench: Workbench;

  suiteSetup(async function () {
    this.timeout(120_000);
    project = demoProject({ stepMs: 700 });
    await project.expect(0, ['init']);
    for (const [at, title] of titles.entries()) {
      const description = directives(`write owner.txt owner-${at + 1}`);
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

  test('the inbox offers the merge, which shows what landed on its own line', async () => {
    await project.expect(2, ['run', '--workers', '2']);
    const { tasks } = await project.status();
    const lost = tasks.find(({ status }) => status === 'conflict');
    assert.deepEqual(lost?.conflict_files, ['owner.txt']);
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

  test('what the person made of both passes the gate and lands', async () => {
    const { page } = bench;
    await runCommand(page, 'Merge Editor: Accept All Incoming Changes from Left');
    await page.locator('.editor-actions a.action-label[aria-label^="Use This Merge"]').click();
    await dialog(page).getByRole('button', { name: 'Land Merge' }).click();
    await messageCame(page, 'is being tested and lands');
    await eventually('both are completed', async () => {
      const { tasks } = await project.status();
      return tasks.every(({ status }) => status === 'completed');
    });
    assert.match(project.git('show', 'main:owner.txt'), /owner-[12]/);
    assert.deepEqual(bench.violations, []);
  });
});
