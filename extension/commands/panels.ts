// Opening panels and views.

import * as vscode from 'vscode';
import { listNeeds } from '../../server/protocol/needs.ts';
import type { TaskView } from '../../server/protocol/views.ts';
import { machinesViewId, webviewIds } from '../ids.ts';
import type { Project } from '../project/project.ts';
import { withProject, type Handlers } from './context.ts';
import { pageChoices, pageSubject } from './page-choices.ts';
import { pickTask } from './pick.ts';
import { parseLogPlace, noTarget, type Target } from './target.ts';

export const panelHandlers: Handlers<
  | 'drover.showTree'
  | 'drover.showInbox'
  | 'drover.showMachines'
  | 'drover.openStream'
  | 'drover.openGrid'
  | 'drover.openWorktrees'
  | 'drover.openBoard'
  | 'drover.openRuns'
> = {
  'drover.showTree': async () => {
    await vscode.commands.executeCommand(`${webviewIds.tree}.focus`);
  },
  'drover.showInbox': async ({ projects }) => {
    // The number in the status bar counts every repository, so the click shows a repository with
    // such items.
    const waits = projects.all.find(({ board }) => board !== null && listNeeds(board).length > 0);
    const board = projects.current?.board ?? null;
    const hasNone = board !== null && listNeeds(board).length === 0;
    if (hasNone && waits !== undefined) projects.select(waits);
    await vscode.commands.executeCommand(`${webviewIds.inbox}.focus`);
  },
  'drover.showMachines': async () => {
    await vscode.commands.executeCommand(`${machinesViewId}.focus`);
  },
  'drover.openStream': withProject(async (context, project, target) => {
    // From within a stream, a person wants to open another stream.
    const isInStream = !target.isExplicit && context.focused()?.name === 'stream';
    const meant = isInStream ? noTarget : target;
    const task = await pickPage(project, meant);
    if (task === null) return;
    const subject = pageSubject(project.root, task.id, meant.attempt);
    const host = context.showPanel('stream', subject);
    const place = parseLogPlace(context.args);
    if (place !== null) host.goTo(place);
  }),
  'drover.openGrid': withProject(async (context, project) => {
    context.showPanel('grid', { root: project.root, id: null, attempt: null });
  }),
  'drover.openWorktrees': withProject(async (context, project) => {
    context.showPanel('worktrees', { root: project.root, id: null, attempt: null });
  }),
  'drover.openBoard': withProject(async (context, project, target) => {
    const [id] = target.isExplicit ? target.ids : [];
    const epic = project.board?.epics.find((each) => each.id === id)?.id ?? null;
    context.showPanel('board', { root: project.root, id: epic, attempt: null });
  }),
  'drover.openRuns': withProject(async (context, project, target) => {
    const [id] = target.isExplicit ? target.ids : [];
    const run = id?.startsWith('run-') === true ? id : null;
    context.showPanel('run', { root: project.root, id: run, attempt: null });
  }),
};

/** Each task has a page, even before its first attempt. */
async function pickPage(project: Project, meant: Target): Promise<TaskView | null> {
  const offered = pageChoices(project.board?.tasks ?? []);
  const [only] = offered;
  if (offered.length === 1 && only !== undefined) return only;
  return await pickTask(project, meant, 'Open Stream', () => true, offered);
}
