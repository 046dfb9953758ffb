// Planning with the mouse as a person does it: tasks and epics written in the side bar, tasks dragged into an epic.

import assert from 'node:assert/strict';
import { eventually } from '../../../e2e/support/eventually.ts';
import type { Project } from '../../../e2e/support/project.ts';
import type { Frame } from '../../host/browser.ts';
import { drag } from './parts.ts';
import { pressTitleButton, row, titleField, treeRows } from './tree.ts';
import type { Workbench } from './workbench.ts';

export const epicTitles = ['Take payments', 'Send receipts'] as const;
export const taskTitles = [
  'Ask for the amount',
  'Call the bank',
  'Show what was paid',
  'Write the receipt',
  'Send it by mail',
] as const;

export async function setUpByButton(tree: Frame): Promise<void> {
  await tree.getByRole('button', { name: 'Set Up Drover' }).click();
  await tree.getByRole('button', { name: 'New Epic' }).waitFor();
}

export async function writePlan(project: Project, bench: Workbench, tree: Frame): Promise<void> {
  await tree.getByRole('button', { name: 'New Task' }).click();
  for (const title of taskTitles) {
    await titleField(tree).fill(title);
    await titleField(tree).press(title === taskTitles.at(-1) ? 'Enter' : 'Shift+Enter');
    await row(tree, title).waitFor();
  }
  for (const title of epicTitles) {
    await pressTitleButton(bench.page, 'New Epic');
    await titleField(tree).fill(title);
    await titleField(tree).press('Enter');
    await row(tree, title).waitFor();
  }
  const board = await project.status();
  assert.deepEqual(board.tasks.map(({ title }) => title).sort(), [...taskTitles].sort());
  assert.deepEqual(board.epics.map(({ title }) => title).sort(), [...epicTitles].sort());
}

/** The first task alone, then the next two at once, into the first epic. */
export async function dragThree(project: Project, bench: Workbench, tree: Frame): Promise<void> {
  const [payments] = epicTitles;
  await drag(bench.page, row(tree, taskTitles[0]), row(tree, payments));
  await eventually('the first task is in the epic', async () => {
    return (await inEpic(project, payments)).length === 1;
  });
  await row(tree, taskTitles[1]).click();
  await row(tree, taskTitles[2]).click({ modifiers: ['ControlOrMeta'] });
  await drag(bench.page, row(tree, taskTitles[2]), row(tree, payments));
  await eventually('three tasks are in the epic', async () => {
    return (await inEpic(project, payments)).length === 3;
  });
  assert.deepEqual(await inEpic(project, payments), taskTitles.slice(0, 3));
  await eventually('the tree shows them below it', async () => {
    const rows = await treeRows(tree);
    const at = rows.indexOf(`1 ${payments}`);
    const below = rows.slice(at + 1, at + 4);
    return taskTitles.slice(0, 3).every((title) => below.includes(`2 ${title}`));
  });
}

async function inEpic(project: Project, title: string): Promise<readonly string[]> {
  const board = await project.status();
  const id = board.epics.find((epic) => epic.title === title)?.id;
  return board.tasks.filter(({ epic_id }) => epic_id === id).map((task) => task.title);
}
