// Commands on tasks: pause, resume, cancel, retry, hint; the worktree; taking over and returning.

import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import { formatCount } from '../../server/core/format.ts';
import { terminalStatuses } from '../../server/core/plan/state.ts';
import type { TaskView } from '../../server/protocol/views.ts';
import { toFailure } from '../backend/failure.ts';
import { linkTo } from '../links/links.ts';
import { withTitles } from '../notices/named-ids.ts';
import { plainText } from '../notices/plain-text.ts';
import type { Project } from '../project/project.ts';
import { asksInPlace } from './asks-in-place.ts';
import { withProject, type CommandContext, type Handlers } from './context.ts';
import { findEpic, pickTask, pickTasks, findTask } from './pick.ts';
import { seeToRun } from './runs.ts';
import type { Target } from './target.ts';

type TaskCommand =
  | 'drover.pauseTask'
  | 'drover.continueTask'
  | 'drover.cancelTask'
  | 'drover.retryTask'
  | 'drover.startOver'
  | 'drover.hintTask'
  | 'drover.openWorktree'
  | 'drover.explainTask'
  | 'drover.copyTaskId'
  | 'drover.copyLink'
  | 'drover.resolveConflict';

const hintMax = 20_000;
const mayStartOver: ReadonlySet<string> = new Set([
  'ready',
  'failed',
  'paused',
  'conflict',
  'cancelled',
  'needs_review',
  'blocked',
]);

export const taskHandlers: Handlers<TaskCommand> = {
  'drover.pauseTask': withProject(async (context, project, target) => {
    const fits = ({ status }: TaskView): boolean =>
      !terminalStatuses.has(status) && status !== 'paused';
    await forEach(context, project, target, {
      title: 'Pause Task',
      fits,
      say: (id) => project.request('task.pause', { id }),
    });
  }),
  'drover.continueTask': withProject(async (context, project, target) => {
    const fits = ({ status }: TaskView): boolean => status === 'paused';
    await forEach(context, project, target, {
      title: 'Continue Task',
      fits,
      say: (id) => project.request('task.unpause', { id }),
    });
  }),
  'drover.cancelTask': asksInPlace(async (context, project, target) => {
    const fits = ({ status }: TaskView): boolean => !terminalStatuses.has(status);
    const tasks = await pickTasks(project, target, 'Cancel Task', fits);
    if (tasks === null) return;
    const what = tasks.length === 1 ? `“${tasks[0]?.title}”` : `${tasks.length} tasks`;
    const hasStarted = tasks.some(({ attempts, status }) => attempts > 0 || status !== 'ready');
    const detail = hasStarted
      ? 'A running agent is stopped. Its work so far is kept as a snapshot.'
      : 'No agent has worked on it.';
    const button = tasks.length === 1 ? 'End Task' : 'End Tasks';
    if (!(await context.messages.confirm(`End ${what}?`, detail, button, 'Keep'))) return;
    await all(context, 'Cancel Task', tasks, (id) => project.request('task.cancel', { id }));
  }),
  'drover.retryTask': withProject(async (context, project, target) => {
    const fits = ({ status, blocked_reason: reason }: TaskView): boolean =>
      ['failed', 'cancelled', 'conflict'].includes(status) ||
      (status === 'blocked' && reason !== null);
    const done = await forEach(context, project, target, {
      title: 'Retry Task',
      fits,
      say: (id) => project.request('task.retry', { id }),
    });
    const [first] = target.ids;
    const epic = findTask(project, first ?? '')?.epic_id ?? null;
    if (done > 0) await seeToRun(context, project, { epic, ids: target.ids });
  }),
  'drover.startOver': asksInPlace(async (context, project, target) => {
    const fits = ({ status }: TaskView): boolean => mayStartOver.has(status);
    const task = await pickTask(project, target, 'Start Over from a Snapshot', fits);
    if (task === null) return;
    const snapshot = await pickSnapshot(context, project, task);
    if (snapshot === null) return;
    await project.request('task.restore', { id: task.id, snapshot });
    await seeToRun(context, project, { epic: task.epic_id, ids: [task.id] });
  }),
  'drover.hintTask': asksInPlace(async (_context, project, target) => {
    const fits = ({ status }: TaskView): boolean => !terminalStatuses.has(status);
    const task = await pickTask(project, target, 'Send a Hint', fits);
    if (task === null) return;
    const text = await vscode.window.showInputBox({
      title: 'Send a Hint',
      prompt: 'The agent receives this while it runs, or when it next starts.',
      validateInput: (input) => (input.length > hintMax ? 'This is too long.' : null),
    });
    if (text === undefined || text.trim() === '') return;
    await project.request('task.hint', { id: task.id, text });
  }),
  'drover.openWorktree': withProject(async (_context, project, target) => {
    const fits = ({ worktree_path }: TaskView): boolean => worktree_path !== null;
    const task = await pickTask(project, target, 'Open Worktree', fits);
    if (task === null) return;
    if (task.worktree_path === null) throw new Error('This task has no worktree now.');
    if (!existsSync(task.worktree_path)) {
      const where = typeof task.machine !== 'string' ? 'gone' : `on ${task.machine}`;
      throw new Error(`The worktree of this task is ${where}.`);
    }
    const folder = vscode.Uri.file(task.worktree_path);
    await vscode.commands.executeCommand('vscode.openFolder', folder, { forceNewWindow: true });
  }),
  'drover.explainTask': withProject(async ({ messages }, project, target) => {
    const task = await pickTask(project, target, 'Why Is This Task Not Running?', () => true);
    if (task === null) return;
    const { reasons } = await project.request('why', { id: task.id });
    messages.tell('info', `${task.title}: ${withTitles(reasons.join(' '), project.board)}`);
  }),
  'drover.copyTaskId': withProject(async (_context, project, target) => {
    const tasks = await pickTasks(project, target, 'Copy Id', () => true);
    if (tasks !== null) await vscode.env.clipboard.writeText(tasks.map(({ id }) => id).join('\n'));
  }),
  'drover.copyLink': withProject(async (_context, project, target) => {
    const [named] = target.ids;
    const epic = findEpic(project, named ?? '');
    const task = epic === null ? await pickTask(project, target, 'Copy Link', () => true) : null;
    const about = epic ?? task;
    if (about === null) return;
    const kind = epic === null ? 'task' : 'epic';
    await vscode.env.clipboard.writeText(linkTo(vscode.env.uriScheme, kind, about.id));
  }),
  'drover.resolveConflict': asksInPlace(async (context, project, target) => {
    const fits = ({ status }: TaskView): boolean => status === 'conflict';
    const task = await pickTask(project, target, 'Resolve a Conflict', fits);
    if (task === null) return;
    const note = await vscode.window.showInputBox({
      title: 'Send the Conflict Back to the Agent',
      prompt: 'How the two changes belong together. The agent starts from the landed work.',
    });
    if (note === undefined) return;
    await project.request('task.resolve', { id: task.id, note });
    await seeToRun(context, project, { epic: task.epic_id, ids: [task.id] });
  }),
};

/** Newest first; null if there are none or the user canceled. */
async function pickSnapshot(
  { messages }: CommandContext,
  project: Project,
  { id, title }: TaskView,
): Promise<number | null> {
  const { snapshots } = await project.request('snapshots', { id });
  if (snapshots.length === 0) {
    messages.tell('info', `${title} has no snapshot: no attempt has stopped with work yet.`);
    return null;
  }
  const items = snapshots.toReversed().map(({ number, attempt, timestamp, reason, ...change }) => ({
    label: `$(history) ${new Date(timestamp * 1_000).toLocaleString()}`,
    description: `attempt ${attempt} · ${plainText(reason, 60)}`,
    detail: `${formatCount(change.files, 'file')}, +${change.insertions} −${change.deletions} against the start of the attempt`,
    number,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: `Start Over: ${plainText(title, 60)}`,
    placeHolder: 'The next attempt starts from this snapshot. Later work is kept.',
  });
  return chosen?.number ?? null;
}

interface EachTask {
  readonly title: string;
  readonly fits: (task: TaskView) => boolean;
  readonly say: (id: string) => Promise<unknown>;
}

async function forEach(
  context: CommandContext,
  project: Project,
  target: Target,
  { title, fits, say }: EachTask,
): Promise<number> {
  const tasks = await pickTasks(project, target, title, fits);
  return tasks === null ? 0 : await all(context, title, tasks, say);
}

/**
 * Sends the requests one after the other and shows all refusals together at the end. Resolves with
 * the number of accepted requests.
 */
async function all(
  { messages }: CommandContext,
  title: string,
  tasks: readonly TaskView[],
  say: (id: string) => Promise<unknown>,
): Promise<number> {
  const refused: string[] = [];
  for (const { id } of tasks) {
    try {
      await say(id);
    } catch (error) {
      refused.push(toFailure(error).message);
    }
  }
  if (refused.length > 0) messages.tell('warning', `${title}: ${refused.join(' ')}`);
  return tasks.length - refused.length;
}
