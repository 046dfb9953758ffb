// From nothing to landed commits without a mouse; and every webview as it stands in VS Code has nothing that axe-core finds
// fault with, in several themes.

import assert from 'node:assert/strict';
import type { WebviewName } from '../../../webview/messages/messages.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import { axeViolations } from '../../webview/support/axe.ts';
import { readTheme, type ThemeName, themeNames } from '../../webview/support/themes.ts';
import type { Frame, Page } from '../host/browser.ts';
import { demoProject } from './support/demo-project.ts';
import {
  inTranscript,
  offeredCommand,
  openStream,
  quickPickRow,
  runCommand,
  webview,
} from './support/parts.ts';
import {
  fieldFocused,
  focusedTag,
  focusTree,
  goTo,
  isTreeFocused,
  reachTree,
  showTasks,
  tabTo,
} from './support/keys.ts';
import { row } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const epics = ['Take payments', 'Send receipts'] as const;
const tasks = ['Ask for the amount', 'Call the bank', 'Show it', 'Write it', 'Post it'] as const;

suite('the first run, without a mouse', () => {
  let project: Project;
  let bench: Workbench;
  let page: Page;
  let tree: Frame;

  suiteSetup(async function () {
    this.timeout(120_000);
    project = demoProject({ stepMs: 900 });
    bench = await openWorkbench({ env: project.env, folder: project.root });
    ({ page } = bench);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    await project?.end(false);
  });

  test('a key shows the tasks, and Tab reaches the next step', async () => {
    tree = await reachTree(page);
    await tree.getByRole('button', { name: 'Set Up Drover' }).waitFor();
    await tabTo(page, tree, 'Set Up Drover');
    await page.keyboard.press('Enter');
    await tree.getByRole('button', { name: 'New Task' }).waitFor();
  });

  test('five tasks and two epics are created', async () => {
    await tabTo(page, tree, 'New Task');
    await page.keyboard.press('Enter');
    for (const title of tasks) {
      await fieldFocused(tree);
      await page.keyboard.type(title);
      await page.keyboard.press(title === tasks.at(-1) ? 'Enter' : 'Shift+Enter');
      await row(tree, title).waitFor();
    }
    for (const title of epics) {
      await writeNewEpic(page, tree);
      await page.keyboard.type(title);
      await page.keyboard.press('Enter');
      await row(tree, title).waitFor();
    }
    const board = await project.status();
    assert.deepEqual(board.tasks.map(({ title }) => title).sort(), [...tasks].sort());
    assert.deepEqual(board.epics.map(({ title }) => title).sort(), [...epics].sort());
  });

  test('keys for new rows open no menu of the window, and do not affect its editors', async () => {
    for (const [key, label] of [
      ['Alt+Shift+KeyN', 'Title of the new task'],
      ['Alt+Shift+KeyP', 'Title of the new epic'],
    ] as const) {
      await goTo(page, tree, tasks[0]);
      await page.keyboard.press(key);
      await fieldFocused(tree);
      assert.equal(await tree.locator('input.text').getAttribute('aria-label'), label, key);
      await page.keyboard.press('Escape');
      await tree.locator('input.text').waitFor({ state: 'detached' });
    }
    await goTo(page, tree, tasks[0]);
    await page.keyboard.press('Insert');
    const overtype = page.locator('.statusbar-item', { hasText: 'OVR' });
    assert.equal(await overtype.count(), 0, 'the editor still inserts');
  });

  test('one task is moved into an epic, then two at once', async () => {
    await goTo(page, tree, tasks[0]);
    await moveToEpic(page, tree, epics[0]);
    await inEpic(project, epics[0], 1);
    const isBack = (): Promise<boolean> => tree.evaluate(isTreeFocused);
    await eventually('the rows have the keyboard after a choice', isBack);
    await page.keyboard.press('Alt+Shift+KeyM');
    await quickPickRow(page, epics[1]).waitFor();
    await page.keyboard.press('Escape');
    await eventually('the rows have the keyboard after Escape', isBack);
    await page.keyboard.press('F2');
    await fieldFocused(tree);
    await page.keyboard.press('Escape');
    await goTo(page, tree, tasks[1]);
    await page.keyboard.press('Shift+ArrowDown');
    await moveToEpic(page, tree, epics[0]);
    await inEpic(project, epics[0], 3);
  });

  test('the epic runs after its checks were read', async () => {
    await goTo(page, tree, epics[0]);
    await page.keyboard.press('Control+Enter');
    await quickPickRow(page, '3 tasks, up to 3 at once').waitFor();
    await page.keyboard.press('Escape');
    await eventually('the rows have the keyboard again', () => tree.evaluate(isTreeFocused));
    await page.keyboard.press('Control+Enter');
    await quickPickRow(page, '3 tasks, up to 3 at once').waitFor();
    await page.keyboard.press('Enter');
    await eventually('an agent is at work', async () => {
      return (await project.status()).counts.in_progress > 0;
    });
  });

  test('Enter opens the stream of a task, which has the focus and can be searched', async () => {
    await page.keyboard.press(showTasks);
    await goTo(page, tree, tasks[0]);
    await page.keyboard.press('Enter');
    const stream = await webview(page, 'stream');
    await inTranscript(stream, 'Looking around.').waitFor();
    await eventually('the stream has the focus', () => stream.evaluate(() => document.hasFocus()));
    await page.keyboard.press('Control+f');
    await eventually('the search has the focus', () => stream.evaluate(focusedTag, 'input'));
    await page.keyboard.press('Escape');
    await stream.getByRole('article', { name: 'Agent: Ended' }).waitFor();
  });

  test('the tasks are completed, and their commits have landed', async () => {
    await row(tree, `${epics[0]} 3/3`).waitFor();
    await project.epicLanded();
    const board = await project.status();
    const completed = board.tasks.filter(({ status }) => status === 'completed');
    assert.equal(completed.length, 3);
    // The branch follows right after the epic has landed.
    await eventually('main has all three', () => {
      const files = project.git('ls-tree', '-r', '--name-only', 'main');
      return completed.every(({ id }) => files.includes(`demo/${id}.md`));
    });
    for (const { id, title } of completed) {
      assert.match(project.git('show', `main:demo/${id}.md`), new RegExp(title));
    }
  });

  test(`every webview in ${themeNames.length} themes has no violations`, async function () {
    this.timeout(600_000);
    await runCommand(page, 'Drover: Open Board and Graph');
    await webview(page, 'board');
    await runCommand(page, 'Drover: Open All Agents');
    await webview(page, 'grid');
    const names: readonly WebviewName[] = ['tree', 'inbox', 'grid', 'board', 'stream'];
    const found: string[] = [];
    for (const theme of themeNames) {
      bench.change({ 'workbench.colorTheme': theme });
      await bench.reload();
      for (const name of names) {
        if (name === 'grid') await runCommand(page, 'Drover: Open All Agents');
        if (name === 'board') await runCommand(page, 'Drover: Open Board and Graph');
        if (name === 'stream') await openStream(page, tasks[0]);
        const frame = await webview(page, name);
        await dressedIn(frame, theme);
        if (name === 'tree' || name === 'inbox') await frame.evaluate(paintSideBar);
        for (const violation of await axeViolations(frame)) {
          found.push(`${name} in ${theme}: ${violation}`);
        }
        await picture(page, `${name}-${theme}`.replaceAll(' ', '-').toLowerCase());
      }
    }
    assert.deepEqual(found, []);
    assert.deepEqual(bench.violations, []);
  });
});

/** By the palette, without a click: when something else has got the key, once more. */
async function writeNewEpic(page: Page, tree: Frame): Promise<void> {
  await eventually('a new epic can be written', async () => {
    try {
      await offeredCommand(page, 'Drover: New Epic');
      await page.keyboard.press('Enter');
      await fieldFocused(tree, 5_000);
      return true;
    } catch {
      await page.keyboard.press('Escape');
      return false;
    }
  });
}

async function moveToEpic(page: Page, tree: Frame, title: string): Promise<void> {
  await eventually(`the picker offers ${title}`, async () => {
    await focusTree(page, tree);
    await page.keyboard.press('Alt+Shift+KeyM');
    try {
      await quickPickRow(page, title).waitFor({ timeout: 3_000 });
      return true;
    } catch {
      return false; // a view that took the focus late has closed it
    }
  });
  await page.keyboard.type(title);
  await page.keyboard.press('Enter');
}

async function inEpic(project: Project, title: string, count: number): Promise<void> {
  await eventually(`${count} tasks are in ${title}`, async () => {
    const board = await project.status();
    return board.epics.find((epic) => epic.title === title)?.counts.total === count;
  });
}

/** The side bar's own colour shows through its views, which axe-core, within the frame, takes for white. */
function paintSideBar(): void {
  document.documentElement.style.background = 'var(--vscode-sideBar-background)';
}

/** The theme is there once the webview's text has the colour that this theme gives to one. */
async function dressedIn(frame: Frame, theme: ThemeName): Promise<void> {
  const { variables, bodyData } = readTheme(theme);
  const wanted = [bodyData['vscodeThemeKind'], variables['--vscode-foreground']].join(' ');
  await eventually(`the webview is dressed in ${theme}`, async () => {
    const worn = await frame.evaluate(() => {
      const { style } = document.documentElement;
      const kind = document.body.dataset['vscodeThemeKind'];
      return [kind, style.getPropertyValue('--vscode-foreground')].join(' ');
    });
    return worn === wanted;
  });
}
