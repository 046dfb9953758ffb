// The effects of clicks and keys in the task tree of the real workbench: one page for single
// clicks, which a double click or an edit keeps, and keys that menus name and that act once.

import assert from 'node:assert/strict';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import type { Frame, Page } from '../host/browser.ts';
import { demoProject } from './support/demo-project.ts';
import { showTasks } from './support/keys.ts';
import { openDrover, runCommand, webviews } from './support/parts.ts';
import { keysAct, row, titleField, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const titles = ['Draw the cart', 'Count the items', 'Name the price'] as const;

suite('clicks and keys in the task tree', () => {
  let project: Project;
  let bench: Workbench;
  let page: Page;
  let tree: Frame;

  suiteSetup(async function () {
    this.timeout(180_000);
    project = demoProject();
    await project.expect(0, ['init']);
    for (const title of titles) await project.add(title);
    bench = await openWorkbench({ env: project.env, folder: project.root });
    ({ page } = bench);
    await openDrover(page);
    tree = await treeOf(page);
    for (const title of titles) await row(tree, title).waitFor();
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    await project?.end(false);
  });

  const tabs = async (): Promise<readonly string[]> => {
    const labels = await page.locator('.tabs-container .tab .label-name').allInnerTexts();
    return labels.map((label) => label.trim());
  };
  const untilTabs = async (wanted: readonly string[]): Promise<void> => {
    await eventually(`the tabs are ${wanted.join(', ')}`, async () => {
      return JSON.stringify(await tabs()) === JSON.stringify(wanted);
    });
  };
  const streamOf = async (title: string): Promise<Frame> =>
    await eventually(`the page of ${title} shows`, async () => {
      for (const frame of await webviews(page, 'stream')) {
        const field = frame.getByRole('textbox', { name: 'Title' });
        if ((await field.count()) > 0 && (await field.inputValue()) === title) return frame;
      }
      return undefined;
    });

  test('a click shows a task in a page that the next click reuses, and the tree keeps the keyboard focus', async () => {
    await row(tree, titles[0]).click();
    await streamOf(titles[0]);
    await untilTabs([`${titles[0]} (preview)`]);
    await row(tree, titles[1]).click();
    await streamOf(titles[1]);
    await untilTabs([`${titles[1]} (preview)`]);
    assert.equal((await webviews(page, 'stream')).length, 1);
    await eventually('the tree has the keyboard', () => tree.evaluate(() => document.hasFocus()));
    await picture(page, 'look-preview');
  });

  test('the shared page stays loaded behind a file, and shows the next task that is clicked', async () => {
    interface Marked {
      isSamePage?: boolean;
    }
    const before = await streamOf(titles[1]);
    await before.evaluate(() => ((globalThis as Marked).isSamePage = true));
    await runCommand(page, 'File: New Untitled Text File');
    await eventually(
      'the page is empty',
      async () => (await webviews(page, 'stream')).length === 0,
    );
    await row(tree, titles[0]).click();
    const after = await streamOf(titles[0]);
    assert.equal(await after.evaluate(() => (globalThis as Marked).isSamePage), true);
    const preview = `${titles[0]} (preview)`;
    await untilTabs([preview, 'Untitled-1']);
    await page.locator('.tabs-container .tab', { hasText: 'Untitled-1' }).click();
    await eventually(
      'the page is empty',
      async () => (await webviews(page, 'stream')).length === 0,
    );
    await page.locator('.tabs-container .tab', { hasText: preview }).click();
    await streamOf(titles[0]);
    await page.locator('.tabs-container .tab', { hasText: 'Untitled-1' }).click();
    await runCommand(page, 'View: Close Editor');
    await untilTabs([preview]);
    await streamOf(titles[0]);
  });

  test('a double click keeps the page and moves the focus into it', async () => {
    await row(tree, titles[1]).dblclick();
    await untilTabs([titles[1]]);
    const stream = await streamOf(titles[1]);
    await eventually('the page has the keyboard', () => stream.evaluate(() => document.hasFocus()));
    await row(tree, titles[2]).click();
    await untilTabs([titles[1], `${titles[2]} (preview)`]);
  });

  test('an edit keeps the page', async () => {
    const stream = await streamOf(titles[2]);
    await stream.getByLabel('Labels', { exact: true }).fill('shop');
    await page.keyboard.press('Enter');
    await untilTabs([titles[1], titles[2]]);
    const { tasks } = await project.status();
    assert.deepEqual(tasks.find(({ title }) => title === titles[2])?.labels, ['shop']);
    await runCommand(page, 'View: Close All Editors');
    await untilTabs([]);
  });

  test('menus show the keys of the tree, and each key acts once', async () => {
    await row(tree, titles[0]).click({ button: 'right' });
    const rename = page.getByRole('menuitem', { name: 'Rename' });
    await rename.waitFor();
    assert.match(await rename.innerText(), /F2/u);
    assert.match(await page.getByRole('menuitem', { name: 'Remove' }).innerText(), /Del/u);
    await picture(page, 'look-menu-with-keys');
    await page.keyboard.press('Escape');
    await row(tree, titles[0]).click();
    await keysAct(tree);
    await page.keyboard.press('F2');
    await titleField(tree).waitFor();
    await titleField(tree).fill('Draw the whole cart');
    // A text's own keys: nothing is removed or opened by them.
    await page.keyboard.press('Home');
    await page.keyboard.press('Delete');
    await page.keyboard.type('D');
    await page.keyboard.press('Enter');
    await row(tree, 'Draw the whole cart').waitFor();
    await row(tree, 'Draw the whole cart').click();
    await keysAct(tree);
    await page.keyboard.press('Delete');
    await row(tree, 'Draw the whole cart').waitFor({ state: 'detached' });
    const left = async (): Promise<readonly string[]> =>
      (await project.status()).tasks.map(({ title }) => title);
    assert.deepEqual((await left()).toSorted(), [titles[1], titles[2]].toSorted());
    await row(tree, titles[1]).click();
    await keysAct(tree);
    await page.keyboard.press('Enter');
    await untilTabs([titles[1]]);
    assert.deepEqual(bench.violations, []);
  });

  test('a key that the person removes no longer acts and leaves its menu, and an added key acts', async () => {
    const treeHasKeyboard = (): Promise<boolean> => tree.evaluate(() => document.hasFocus());
    const leaveTree = async (): Promise<void> => {
      await page.locator('.tabs-container .tab.active').click();
      await eventually('the tree is left', async () => !(await treeHasKeyboard()));
    };
    const keyInMenu = async (): Promise<string> => {
      await row(tree, titles[1]).click({ button: 'right' });
      const rename = page.getByRole('menuitem', { name: 'Rename' });
      await rename.waitFor();
      const text = await rename.innerText();
      await page.keyboard.press('Escape');
      await rename.waitFor({ state: 'hidden' });
      return text;
    };
    const isActive = async (title: string): Promise<boolean> =>
      /\bactive\b/u.test((await row(tree, title).getAttribute('class')) ?? '');
    await leaveTree();
    await page.keyboard.press(showTasks);
    await eventually('the tree has the keyboard', treeHasKeyboard, 15_000);
    // Written by the editor of keyboard shortcuts.
    bench.changeKeys([
      { key: 'ctrl+alt+shift+t', command: '-drover.showTree' },
      { key: 'f2', command: '-drover.rename' },
      {
        key: 'ctrl+alt+shift+e',
        command: 'drover.rename',
        when: 'drover.inTree && !inputFocus && !listFocus',
      },
      { key: 'ctrl+alt+shift+u', command: 'drover.showTree' },
    ]);
    await bench.reload();
    await openDrover(page);
    tree = await treeOf(page);
    await row(tree, titles[1]).waitFor();
    const isGone = async (): Promise<boolean> => !/F2/u.test(await keyInMenu());
    await eventually('its menu names no key', isGone, 15_000);
    await row(tree, titles[1]).click();
    await keysAct(tree);
    await page.keyboard.press('F2');
    // The tree's own keys come behind those of the window: it has none left to wait for.
    await page.keyboard.press('End');
    await eventually('the last row is chosen', () => isActive(titles[2]), 15_000);
    assert.equal(await titleField(tree).count(), 0);
    await keysAct(tree);
    await page.keyboard.press('Control+Alt+Shift+E');
    await titleField(tree).waitFor();
    await page.keyboard.press('Escape');
    await leaveTree();
    await page.keyboard.press(showTasks);
    // The keys of a window are carried out in turn: before this one has its effect, that would have.
    await page.keyboard.press('F1');
    await page.locator('.quick-input-widget input.input').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    assert.equal(await treeHasKeyboard(), false);
    await page.keyboard.press('Control+Alt+Shift+U');
    await eventually('the tree has the keyboard', treeHasKeyboard, 15_000);
    bench.changeKeys([]);
  });

  test('if lists open by a double click, a single click only selects', async () => {
    await runCommand(page, 'View: Close All Editors');
    bench.change({ 'workbench.list.openMode': 'doubleClick' });
    await bench.reload();
    await openDrover(page);
    tree = await treeOf(page);
    await row(tree, titles[2]).click();
    await row(tree, titles[1]).dblclick();
    await untilTabs([titles[1]]);
  });
});
