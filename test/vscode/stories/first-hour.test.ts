// The first hour in a long plan, with Auto Save on, which is this host's default: failures say why,
// typed text is in sight, and nothing on the screen is stale.

import assert from 'node:assert/strict';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import type { Frame, Page } from '../host/browser.ts';
import {
  type EpicName,
  epics,
  fieldInSight,
  firstHour,
  type FirstHour,
  tasks,
} from './support/first-hour-project.ts';
import { goTo, tabTo } from './support/keys.ts';
import { endMessages, message, messageCame } from './support/messages.ts';
import {
  activeTab,
  dialog,
  openDrover,
  quickPickRow,
  runCommand,
  webview,
} from './support/parts.ts';
import { pressTitleButton, row, titleField, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

suite('the first hour', () => {
  let hour: FirstHour;
  let project: Project;
  let bench: Workbench;
  let page: Page;
  let tree: Frame;
  let ids: Readonly<Record<EpicName, string>>;

  suiteSetup(async function () {
    this.timeout(180_000);
    hour = firstHour();
    ({ project } = hour);
    hour.breakSettings();
    bench = await openWorkbench({
      env: project.env,
      folder: project.root,
      settings: { 'workbench.colorTheme': 'Dark 2026' },
    });
    ({ page } = bench);
    await openDrover(page);
    tree = await treeOf(page);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    await project?.end(false);
  });

  const problems = async (): Promise<string> => {
    const item = page.locator('.statusbar-item[id="status.problems"] a');
    return (await item.getAttribute('aria-label')) ?? '';
  };
  const runByMouse = async (epic: string): Promise<void> => {
    await goTo(page, tree, epic);
    await row(tree, epic).hover();
    await tree.getByRole('button', { name: `Run epic ${epic}` }).click();
  };
  const statusOf = async (title: string): Promise<string | undefined> => {
    const { tasks: all } = await project.status();
    return all.find((task) => task.title === title && task.candidate_of === null)?.status;
  };
  const until = async (title: string, status: string): Promise<void> => {
    await eventually(`${title} is ${status}`, async () => (await statusOf(title)) === status);
  };
  const start = async (): Promise<void> => {
    await quickPickRow(page, /tasks?, up to \d+ at once/).click();
  };

  test('set-up in a repository with a broken settings file explains why, by mouse and by keyboard', async () => {
    const setUp = tree.getByRole('button', { name: 'Set Up Drover' });
    await setUp.click();
    await tree
      .getByText(/\.drover\.toml, line 2/)
      .first()
      .waitFor();
    await picture(page, 'hour-broken-settings');
    await tree.getByRole('button', { name: 'Open .drover.toml' }).click();
    await activeTab(page, '.drover.toml').waitFor();
    await runCommand(page, 'View: Close All Editors');
    hour.mendSettings();
    await tabTo(page, tree, 'Set Up Drover');
    await page.keyboard.press('Enter');
    await tree.getByRole('button', { name: 'New Task' }).waitFor();
    await picture(page, 'hour-no-tasks');
  });

  test('a run with a broken settings file explains why as well', async () => {
    ids = await hour.addPlan();
    await row(tree, epics.twice).waitFor();
    hour.breakSettings();
    await runByMouse(epics.twice);
    await quickPickRow(page, '.drover.toml, line 2').waitFor();
    await picture(page, 'hour-broken-settings-run');
    hour.mendSettings();
    await quickPickRow(page, 'Look Again').click();
    await quickPickRow(page, '1 task, up to 1 at once').waitFor();
    await page.keyboard.press('Escape');
  });

  test('tasks and epics are created in view, among 300 rows', async () => {
    const write = async (title: string): Promise<void> => {
      await fieldInSight(tree);
      await page.keyboard.type(title);
      await page.keyboard.press('Enter');
      await titleField(tree).waitFor({ state: 'detached' });
      await row(tree, title).waitFor();
      const board = await project.status();
      const all = [...board.tasks, ...board.epics].map((each) => each.title);
      assert.ok(all.includes(title), `${title} is on the board`);
    };
    await goTo(page, tree, 'Warehouse shelf-0');
    await row(tree, 'Warehouse shelf-0').click();
    await pressTitleButton(page, 'New Task');
    await fieldInSight(tree);
    await picture(page, 'hour-new-task');
    await write('Mouse task');
    await pressTitleButton(page, 'New Epic');
    await write('Mouse epic');
    await goTo(page, tree, 'Warehouse shelf-0');
    await page.keyboard.press('Alt+Shift+KeyN');
    await write('Keyboard task');
    await goTo(page, tree, 'Warehouse shelf-0');
    await page.keyboard.press('Alt+Shift+KeyP');
    await write('Keyboard epic');
    const { tasks: all } = await project.status();
    const inside = all.filter(({ title }) => title.endsWith(' task'));
    assert.deepEqual(new Set(inside.map(({ epic_id: epic }) => epic)), new Set(['shelf-0']));
  });

  test('the selected agent is saved, and the message names the file', async () => {
    await runCommand(page, 'Drover: Select Agent');
    await quickPickRow(page, 'Claude Code').waitFor();
    // It is the last one.
    await page.keyboard.type('Demo agent');
    await quickPickRow(page, 'Demo agent').click();
    await quickPickRow(page, 'For me, in all repositories').click();
    await messageCame(
      page,
      'Demo agent (no model, no cost) works on your tasks (user setting drover.agent)',
    );
  });

  test('the page of a task that fails twice follows its attempts, and ends without the failures', async () => {
    await goTo(page, tree, tasks.twice);
    await row(tree, tasks.twice).dblclick();
    const stream = await webview(page, 'stream');
    await runByMouse(epics.twice);
    await quickPickRow(page, 'It is not known yet whether').waitFor();
    await picture(page, 'hour-preflight-remedy');
    await start();
    await stream
      .getByText(/Attempt 3 of 3/)
      .first()
      .waitFor({ state: 'attached' });
    await until(tasks.twice, 'completed');
    await stream.getByText('Completed', { exact: false }).first().waitFor();
    await messageCame(page, `${epics.twice}: 1 landed on main`);
    await picture(page, 'hour-followed-attempts');
    const chosen = stream.getByRole('combobox', { name: 'Attempt' });
    assert.equal(await chosen.inputValue(), '3');
    assert.equal(await stream.locator('.trouble').count(), 0);
    const tabs = await page.locator('.tabs-container .tab .label-name').allInnerTexts();
    assert.ok(
      tabs.every((label) => !/\(\d\)/u.test(label)),
      tabs.join(),
    );
  });

  test('a failing run counts each task once, and its problems disappear once it is fixed', async () => {
    await runByMouse(epics.counts);
    await start();
    const end = await message(page, `${epics.counts}: 1 of 2 done (not on main yet) · 1 failed`);
    await picture(page, 'hour-run-end');
    assert.doesNotMatch(await end.innerText(), /not done|waits? for you/u);
    await endMessages(page);
    await goTo(page, tree, tasks.fails);
    await row(tree, tasks.fails).dblclick();
    await activeTab(page, tasks.fails).waitFor();
    const stream = await webview(page, 'stream');
    await stream.getByRole('button', { name: 'Gate Output' }).click();
    await eventually('the gate names a problem', async () => /1/u.test(await problems()));
    await picture(page, 'hour-problem');
    hour.mendGate();
    const inbox = await webview(page, 'inbox');
    await inbox.getByRole('button', { name: 'Retry', exact: true }).click();
    await until(tasks.fails, 'completed');
    await eventually('no problem is left', async () => !/1/u.test(await problems()));
    await runCommand(page, 'View: Close All Editors');
  });

  test('a red main starts no agent, and its tasks show the reason until it is green', async () => {
    hour.commitRed(true);
    await runByMouse(epics.red);
    const unknown = quickPickRow(page, 'It is not known yet whether');
    await unknown.waitFor();
    await unknown.click();
    await quickPickRow(page, /already fails|fails on main/u).waitFor();
    await picture(page, 'hour-preflight-red');
    await quickPickRow(page, /tasks?, up to \d+ at once/u).click();
    for (const title of tasks.red) await until(title, 'blocked');
    const { tasks: all } = await project.status();
    const waiting = all.filter(({ title }) => (tasks.red as readonly string[]).includes(title));
    assert.deepEqual(
      waiting.map(({ attempts }) => attempts),
      [0, 0],
    );
    await goTo(page, tree, tasks.red[0]);
    await row(tree, tasks.red[0]).dblclick();
    await activeTab(page, tasks.red[0]).waitFor();
    const stream = await webview(page, 'stream');
    const why = stream.getByRole('group', { name: 'Why it is blocked' });
    await why.getByText('The gate already fails on main').waitFor();
    await picture(page, 'hour-blocked');
    await why.getByRole('button', { name: 'Gate Output' }).click();
    await page.locator('.view-line', { hasText: 'main is red' }).first().waitFor();
    await runCommand(page, 'View: Close All Editors');
    hour.commitRed(false);
    await runByMouse(epics.red);
    await quickPickRow(page, 'Retry 2 blocked tasks and run').click();
    for (const title of tasks.red) await until(title, 'completed');
    await endMessages(page);
  });

  test('landing a conflict is offered only once a side was accepted', async () => {
    await runByMouse(epics.conflict);
    await start();
    await eventually('one is in conflict', async () => {
      const { tasks: all } = await project.status();
      return all.some(({ status }) => status === 'conflict');
    });
    await endMessages(page);
    const inbox = await webview(page, 'inbox');
    await inbox.getByRole('button', { name: 'Merge in Editor' }).click();
    await page.locator('.merge-editor').waitFor();
    await page
      .locator('.merge-editor')
      .getByText(/^owner-[12]$/)
      .first()
      .waitFor();
    await runCommand(page, 'Notifications: Show Notifications');
    assert.equal(
      await page.locator('.notification-list-item', { hasText: 'is merged' }).count(),
      0,
    );
    await runCommand(page, 'Notifications: Hide Notifications');
    await runCommand(page, 'Merge Editor: Accept All Current Changes from Right');
    await message(page, /README\.md is merged: \+1 −1/u, { answer: 'Land Merge' });
    await dialog(page).getByRole('button', { name: 'Land Merge' }).click();
    for (const title of tasks.conflict) await until(title, 'completed');
    // The run had ended with the conflict: only another one lands the epic.
    await messageCame(page, `${epics.conflict}: 2 landed on main`);
    await inbox.getByText('Nothing waits for you').first().waitFor();
    await endMessages(page);
  });

  test('candidates are children of their task, one item of the inbox, and the chosen one lands', async () => {
    await runByMouse(epics.candidates);
    await start();
    const inbox = await webview(page, 'inbox');
    await inbox.getByText('Which candidate should land?').first().waitFor();
    const land = inbox.getByRole('button', { name: /^Land Candidate \d/u });
    assert.equal(await land.count(), 2);
    assert.equal(await inbox.getByRole('button', { name: 'Approve', exact: true }).count(), 0);
    await goTo(page, tree, tasks.candidates);
    for (const number of [1, 2]) {
      const child = tree.getByRole('treeitem', { name: new RegExp(`^Candidate ${number}`, 'u') });
      await child.waitFor();
      assert.equal(await child.getAttribute('aria-level'), '3');
    }
    await picture(page, 'hour-candidates');
    await inbox.getByRole('button', { name: 'Compare' }).click();
    await page.locator('.tabs-container .tab.active', { hasText: 'Candidate 1' }).waitFor();
    await page
      .locator('.view-line', { hasText: /mail.of.task/u })
      .first()
      .waitFor();
    await picture(page, 'hour-compare');
    await runCommand(page, 'View: Close All Editors');
    await land.first().click();
    await until(tasks.candidates, 'completed');
    await inbox.getByText('Nothing waits for you').first().waitFor();
    await endMessages(page);
  });

  test('two windows show the same state, and a review decided in one closes in the other', async () => {
    const second = await bench.anotherWindow();
    await openDrover(second);
    const other = await treeOf(second);
    await project.expect(0, ['run', '-e', ids.review, '--land', 'review', '--detach']);
    const title = new RegExp(`^${epics.review} 1/1 completed, needs your review`, 'u');
    await goTo(page, tree, epics.review);
    for (const each of [tree, other]) await each.getByRole('treeitem', { name: title }).waitFor();
    for (const each of [second, page]) {
      await (
        await webview(each, 'inbox')
      )
        .getByRole('button', { name: 'Review', exact: true })
        .click();
      await each.locator('.tabs-container .tab.active', { hasText: '(1 file)' }).waitFor();
    }
    await (
      await webview(page, 'inbox')
    )
      .getByRole('button', { name: 'Approve', exact: true })
      .click();
    await eventually('it has landed', () => {
      return project.git('ls-tree', '-r', '--name-only', 'main').includes('form.txt');
    });
    for (const each of [second, page]) {
      await each
        .locator('.tabs-container .tab', { hasText: '(1 file)' })
        .waitFor({ state: 'detached' });
      await (await webview(each, 'inbox')).getByText('Nothing waits for you').first().waitFor();
    }
    await second.close();
  });

  test('nothing that the policy forbids was tried', () => {
    assert.deepEqual(bench.violations, []);
  });
});
