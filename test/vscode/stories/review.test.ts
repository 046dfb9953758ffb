// The change of an epic waits for a person: they view it in VS Code's own diff, send it back with
// feedback, view it again, and approve.

import assert from 'node:assert/strict';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import type { Frame, Locator } from '../host/browser.ts';
import { demoProject, directives } from './support/demo-project.ts';
import { messageCame } from './support/messages.ts';
import {
  activeTab,
  answerInputBox,
  openDrover,
  quickPickRow,
  runCommand,
} from './support/parts.ts';
import { row, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const title = 'A diary';
const settings = `[land]
mode = "review"
[templates.bug]
title = "Fix {{title}}"
description = "Seen {{where}}."
`;

suite('a review in VS Code', () => {
  let project: Project;
  let bench: Workbench;
  let tree: Frame;

  suiteSetup(async function () {
    this.timeout(120_000);
    project = demoProject({ stepMs: 100, settings });
    await project.expect(0, ['init']);
    const epic = await project.json<{ id: string }>(['epic', 'add', title]);
    const description = directives('write diary.txt a day');
    await project.add('Keep it', '--epic', epic.id, '--description', description);
    bench = await openWorkbench({
      env: project.env,
      folder: project.root,
      settings: { 'drover.showPreflight': false },
    });
    await openDrover(bench.page);
    tree = await treeOf(bench.page);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    await project?.end(false);
  });

  /** Runs the open tasks of the epic, until its whole change waits for a person. */
  const run = async (): Promise<void> => {
    await row(tree, title).click();
    await bench.page.keyboard.press('Control+Enter');
    await eventually('the epic waits for its review', async () => {
      const { epics } = await project.status();
      return epics[0]?.landing_state === 'needs_review';
    });
  };

  const look = async (files: string): Promise<void> => {
    await row(tree, title).click();
    await runCommand(bench.page, 'Drover: Review Change');
    await bench.page.locator('.tabs-container .tab.active', { hasText: files }).first().waitFor();
  };

  const button = (name: string): Locator =>
    bench.page.locator(`.editor-actions a.action-label[aria-label^="${name}"]`).first();

  test('finished work waits, and is reviewed in the diff editor', async () => {
    await run();
    await messageCame(bench.page, `The epic ${title} is done and waits for your review`);
    await row(tree, `${title} 1/1 completed, needs your review`).waitFor();
    assert.throws(() => project.git('show', 'main:diary.txt'), 'nothing lands by itself');
    await look('(1 file)');
    await bench.page.locator('.view-line', { hasText: 'a day' }).first().waitFor();
    await picture(bench.page, 'review');
  });

  test('work that is sent back with a comment is resumed', async () => {
    await button('Send Comments Back').click();
    await answerInputBox(bench.page, 'One day is no diary.');
    await messageCame(bench.page, 'Sent back to the agent');
    await row(tree, 'Review: One day is no diary.').waitFor();
    await run();
  });

  test('approved work lands exactly as it was shown', async () => {
    await look('(2 files)');
    await button('Approve This Change').click();
    await eventually('it has landed', () => {
      return project.git('ls-tree', '-r', '--name-only', 'main').includes('diary.txt');
    });
    const landed = project.git('ls-tree', '-r', '--name-only', 'main');
    assert.match(landed, /^demo\/task-\w+\.md$/m);
  });

  test('the next task is created from a template, which asks for its values', async () => {
    const { page } = bench;
    const answer = async (prompt: string, text: string): Promise<void> => {
      await page.locator('.quick-input-message', { hasText: prompt }).waitFor();
      await answerInputBox(page, text);
    };
    await runCommand(page, 'Drover: New Task from Template');
    await quickPickRow(page, 'bug').click();
    await answer('Title of the task', 'the clock');
    await answer('where', 'in the kitchen');
    // The epic that is selected has landed: the task does not reopen it without a question.
    await quickPickRow(page, 'No epic').click();
    await activeTab(page, 'Fix the clock').waitFor();
    await row(tree, 'Fix the clock').waitFor();
    const { tasks } = await project.status();
    const added = tasks.find((task) => task.title === 'Fix the clock');
    assert.equal(added?.description, 'Seen in the kitchen.');
  });
});
