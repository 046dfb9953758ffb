// What webviews ask of the extension itself; most of it is a command that exists anyway.

import * as vscode from 'vscode';
import type { HostActionName, HostActions } from '../../webview/messages/messages.ts';
import { isCommandId, type CommandId } from '../ids.ts';
import type { Messages } from '../notices/messages.ts';
import { openAtCommit, openFile } from '../links/open-file.ts';
import { showStepLog } from '../notices/step-log.ts';
import { plainText } from '../notices/plain-text.ts';
import { pickFile } from '../project/pick-file.ts';
import type { Project } from '../project/project.ts';
import type { WebviewHost } from './webview-host.ts';

export interface HostActionParts {
  readonly project: (webview: WebviewHost) => Project | null;
  /** Runs a command on the webview's own project. */
  readonly command: (webview: WebviewHost, id: CommandId, argument?: unknown) => Promise<void>;
  /** Does something to a task whose agent shall work on, and sees to a run. */
  readonly andRun: (
    webview: WebviewHost,
    action: (project: Project) => Promise<unknown>,
  ) => Promise<void>;
  readonly messages: Messages;
  readonly measured: (webview: WebviewHost, name: string, ms: number) => void;
}

type Actions = {
  readonly [N in HostActionName]: (
    webview: WebviewHost,
    params: HostActions[N]['params'],
  ) => Promise<HostActions[N]['result']>;
};

const pickedFromMax = 20_000;
const copiedMax = 16 * 1024 * 1024;
const nothing = {};

export function hostActions(parts: HostActionParts): Actions {
  const { messages } = parts;
  /** A command with its argument as it comes. */
  const by =
    (id: CommandId) =>
    async (webview: WebviewHost, params: object): Promise<typeof nothing> => {
      await parts.command(webview, id, params);
      return nothing;
    };
  return {
    // The state itself goes its own way, as a push.
    hello: () => Promise.resolve(nothing),
    async runEpic(webview, { epic }) {
      if (epic === null) await parts.command(webview, 'drover.runAll');
      else await parts.command(webview, 'drover.runEpic', text(epic, 'epic'));
      return nothing;
    },
    retry: by('drover.retryTask'),
    ...taskActions(parts),
    ...documentActions(parts),
    stopRun: by('drover.stopRun'),
    openStream: by('drover.openStream'),
    openGrid: by('drover.openGrid'),
    retryFailed: by('drover.retryFailed'),
    openBoard: by('drover.openBoard'),
    review: by('drover.review'),
    takeOver: by('drover.takeOver'),
    giveBack: by('drover.giveBack'),
    openWorktree: by('drover.openWorktree'),
    undoLanding: by('drover.undoLanding'),
    async command(webview, { id }) {
      if (!isCommandId(id)) throw new Error('This is not a command of Drover.');
      await parts.command(webview, id);
      return nothing;
    },
    async copy(_webview, params) {
      const copied = text(params.text, 'text');
      if (copied.length > copiedMax) throw new Error('This is too much to copy.');
      await vscode.env.clipboard.writeText(copied);
      return nothing;
    },
    async notify(_webview, { level, text: words, buttons }) {
      const known = level === 'warning' || level === 'error' ? level : 'info';
      const titles = (buttons ?? []).slice(0, 3).map((button) => text(button, 'button'));
      return { button: await messages.show(known, text(words, 'text'), titles) };
    },
    async pick(_webview, { title, items }) {
      if (!Array.isArray(items)) throw new Error('items must be a list.');
      const choices = items.slice(0, pickedFromMax).map((item) => ({
        id: text(item.id, 'id'),
        label: plainText(text(item.label, 'label')),
        detail: plainText(text(item.detail ?? '', 'detail')),
      }));
      const chosen = await vscode.window.showQuickPick(choices, {
        title: text(title, 'title'),
        matchOnDetail: true,
      });
      return { id: chosen?.id ?? null };
    },
    measured(webview, { name, ms }) {
      parts.measured(webview, text(name, 'name').slice(0, 80), Number(ms));
      return Promise.resolve(nothing);
    },
  };
}

/** What gives an agent more to do. */
function taskActions(parts: HostActionParts): Pick<Actions, 'sendBack' | 'resolve'> {
  return {
    async sendBack(webview, { id, text: words }) {
      const params = { id: text(id, 'id'), text: text(words, 'text') };
      await parts.andRun(webview, (project) => project.request('task.send_back', params));
      return nothing;
    },
    async resolve(webview, { task, note }) {
      const params = { id: text(task, 'task'), note: text(note, 'note') };
      await parts.andRun(webview, (project) => project.request('task.resolve', params));
      return nothing;
    },
  };
}

/** What opens something in an editor. */
function documentActions(
  parts: HostActionParts,
): Pick<Actions, 'openStepLog' | 'openFile' | 'pickFile'> {
  return {
    async openStepLog(webview, { task, attempt, step }) {
      const project = parts.project(webview);
      if (project === null) throw new Error('No repository is open.');
      const which = step === 'setup' ? 'setup' : 'gate';
      await showStepLog(project, text(task, 'task'), Number(attempt), which);
      return nothing;
    },
    async pickFile(webview) {
      const project = parts.project(webview);
      if (project === null) throw new Error('No repository is open.');
      return { path: await pickFile(project) };
    },
    async openFile(webview, { path, line, sha }) {
      const project = parts.project(webview);
      if (project === null) throw new Error('No repository is open.');
      const at = typeof line === 'number' ? line : null;
      if (typeof sha === 'string') await openAtCommit(project, text(path, 'path'), sha, at);
      else await openFile(project, text(path, 'path'), at);
      return nothing;
    },
  };
}

function text(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new Error(`${name} must be a string.`);
  return value;
}
