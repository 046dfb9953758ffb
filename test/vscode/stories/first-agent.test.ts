// Without an agent: the checks before a run name the remedy, one list has all agents, and the checks come back.

import assert from 'node:assert/strict';
import type { Project } from '../../e2e/support/project.ts';
import type { Frame } from '../host/browser.ts';
import { demoProject } from './support/demo-project.ts';
import { chooseFromMenu, openDrover, quickPickRow, runCommand } from './support/parts.ts';
import { row, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const task = 'Write the receipt';

suite('the first agent', () => {
  let project: Project;
  let bench: Workbench;
  let tree: Frame;

  suiteSetup(async function () {
    this.timeout(120_000);
    project = demoProject({ env: { DROVER_AGENT_TYPE: '', DROVER_AGENT_PATH: '' } });
    await project.expect(0, ['init']);
    await project.add(task);
    bench = await openWorkbench({
      env: project.env,
      folder: project.root,
      // Its text is then on the page.
      settings: { 'terminal.integrated.gpuAcceleration': 'off' },
    });
    await openDrover(bench.page);
    tree = await treeOf(bench.page);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    await project?.end(false);
  });

  test('a missing agent is reported with its remedy, whose list leads back to the checks', async () => {
    const { page } = bench;
    await row(tree, task).waitFor();
    await runCommand(page, 'Drover: Run All');
    const missing = quickPickRow(page, /Claude Code .*was not found/);
    await missing.waitFor();
    await picture(page, 'look-no-agent');
    assert.match(
      await missing.innerText(),
      /Enter: Select or Install an Agent… · Or set \[agent\] path\./,
    );
    // It is the active row: a run that cannot start has its remedy under Enter.
    await page.keyboard.press('Enter');
    await quickPickRow(page, /Codex/).waitFor();
    await picture(page, 'look-agents');
    await page.keyboard.press('Escape');
    await missing.waitFor();
    await quickPickRow(page, 'Look Again').click();
    await missing.waitFor();
  });

  test('its install command is typed once, and the checks ask to press Enter there', async () => {
    const { page } = bench;
    await page.keyboard.press('Enter');
    await quickPickRow(page, /^(?=.*Claude Code)(?=.*npm install)/s).click();
    const next = quickPickRow(page, 'Press Enter in the terminal to install Claude Code');
    await next.waitFor();
    assert.match(await next.innerText(), /Look Again/);
    const terminal = page.locator('.xterm-rows');
    await terminal.getByText('npm install -g @anthropic-ai').first().waitFor();
    await picture(page, 'look-install');
    const typed = (await terminal.innerText()).split('npm install').length - 1;
    assert.equal(typed, 1, await terminal.innerText());
    await next.click();
    await quickPickRow(
      page,
      'Still missing. If it is installed in a new folder, restart VS Code',
    ).waitFor();
    await page.keyboard.press('Escape');
    await runCommand(page, 'Terminal: Kill All Terminals');
  });

  test('Check Setup names the missing parts', async () => {
    const { page } = bench;
    await runCommand(page, 'Drover: Check Setup');
    const message = page.locator('.notification-toast', { hasText: 'Show Details' });
    await message.waitFor();
    await picture(page, 'look-setup');
    assert.match(await message.innerText(), /Setup, agent claude: Not found: npm install/);
  });

  test('the confirmation before a task is ended names both options', async () => {
    const { page } = bench;
    await row(tree, task).click({ button: 'right' });
    await chooseFromMenu(page, 'Cancel Task');
    const box = page.locator('.monaco-dialog-box');
    await box.waitFor();
    await picture(page, 'look-end-task');
    const buttons = await box.getByRole('button').allInnerTexts();
    assert.deepEqual(buttons.filter((text) => text !== '').sort(), ['End Task', 'Keep']);
    await box.getByRole('button', { name: 'Keep' }).click();
    assert.equal((await project.status()).tasks[0]?.status, 'ready');
  });
});
