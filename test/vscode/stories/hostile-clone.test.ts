// A hostile clone in the real VS Code, from the first look in Restricted Mode to the run: which
// programs run, and after which consent of a person. docs/clones.md has the table; this test writes
// it and keeps it true.

import assert from 'node:assert/strict';
import { startWebReceiver, type WebReceiver } from '../../doubles/web-receiver.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { holdTable, hostileClone, marksOf } from '../../e2e/support/hostile-clone.ts';
import type { Project } from '../../e2e/support/project.ts';
import type { Frame, Locator } from '../host/browser.ts';
import { openDrover, quickPickRow, runCommand, webview } from './support/parts.ts';
import { setUpByButton } from './support/plan-in-side-bar.ts';
import { row, titleField, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

suite('a hostile clone in VS Code', function () {
  this.timeout(300_000);
  const found = new Map<string, string>();
  let receiver: WebReceiver;
  let project: Project;
  let bench: Workbench;
  let tree: Frame;

  const look = (after: string): void => {
    for (const name of marksOf(project, receiver)) if (!found.has(name)) found.set(name, after);
  };
  const nothingAfter = (word: string): void => {
    look(word);
    assert.deepEqual([...found], []);
  };

  suiteSetup(async function () {
    this.timeout(120_000);
    receiver = await startWebReceiver();
    project = hostileClone(receiver.url);
    bench = await openWorkbench({
      env: project.env,
      folder: project.root,
      hasWorkspaceTrust: true,
      settings: {
        'security.workspace.trust.enabled': true,
        'security.workspace.trust.startupPrompt': 'never',
      },
    });
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    await project?.end(false);
    await receiver?.close();
  });

  test('nothing runs in Restricted Mode', async () => {
    await openDrover(bench.page);
    tree = await treeOf(bench.page);
    await tree
      .getByText(/Restricted Mode/)
      .first()
      .waitFor();
    await runCommand(bench.page, 'Drover: Get Started');
    await bench.page.locator('.gettingStartedContainer').first().waitFor();
    await picture(bench.page, 'hostile-clone-untrusted');
    nothingAfter('opened');
    assert.equal(project.backendPid(), null);
  });

  test('nothing runs merely because the workspace is trusted', async () => {
    await tree.getByRole('button', { name: 'Manage Workspace Trust' }).click();
    const editor = bench.page.locator('.workspace-trust-editor');
    await editor.getByRole('button', { name: 'Trust', exact: true }).click();
    await editor.locator('.workspace-trust-header.workspace-trust-trusted').waitFor();
    // It lies over the window.
    const modal = bench.page.locator('.monaco-modal-editor-block');
    await modal
      .getByRole('button', { name: /^Close/ })
      .first()
      .click();
    await modal.waitFor({ state: 'hidden' });
    await tree.getByText('Drover is not set up in this repository yet').waitFor();
    await picture(bench.page, 'hostile-clone-trusted');
    nothingAfter('trust of the workspace');
  });

  test('nothing runs while a person sets up, plans and looks around', async () => {
    await setUpByButton(tree);
    nothingAfter('*Set Up Drover*');
    await tree.getByRole('button', { name: 'New Task' }).click();
    await titleField(tree).fill('First');
    await titleField(tree).press('Enter');
    await row(tree, 'First').waitFor();
    await project.add('Other', '--agent', 'claude');
    await row(tree, 'Other').waitFor();
    await runCommand(bench.page, 'Drover: Open Board');
    await (await webview(bench.page, 'board')).getByText('First').first().waitFor();
    nothingAfter('a plan');
    await checks();
    await picture(bench.page, 'hostile-clone-checks');
    nothingAfter('the checks before a run');
    await bench.page.keyboard.press('Escape');
  });

  test('the programs that run after Run are those in docs/clones.md', async () => {
    await accept();
    await untilMarked('agent', 'claude', 'setup', 'gate', 'remote', 'webhook', 'telemetry');
    await untilEnded();
    look('*Run*');
    holdTable('editor', found);
    assert.deepEqual(bench.violations, []);
  });

  const checks = async (): Promise<Locator> => {
    await runCommand(bench.page, 'Drover: Check Before a Run');
    const start = quickPickRow(bench.page, /up to \d+ at once/);
    await start.waitFor();
    return start;
  };
  const accept = async (): Promise<void> => (await checks()).click();
  const untilEnded = async (): Promise<void> => {
    const hasEnded = async (): Promise<boolean> => (await project.status()).run?.active === false;
    await eventually('the run ends', hasEnded, 120_000);
  };
  const untilMarked = async (...names: readonly string[]): Promise<void> => {
    await eventually(`${names.join(', ')} ran`, () => {
      const marks = marksOf(project, receiver);
      return names.every((name) => marks.includes(name));
    });
  };
});
