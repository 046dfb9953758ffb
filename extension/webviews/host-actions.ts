// Requests of webviews to the extension itself that no command handles.

import * as vscode from 'vscode';
import type { HostActionName, HostActions, RulesReport } from '../../webview/messages/messages.ts';
import { isOneOf } from '../../server/core/one-of.ts';
import { commandIds, type CommandActionName } from '../ids.ts';
import { keyboardBack } from '../notices/keyboard-back.ts';
import { openAtCommit, openFile } from '../links/open-file.ts';
import { showStepLog } from '../notices/step-log.ts';
import { contextSet } from '../notices/context-keys.ts';
import { plainText } from '../notices/plain-text.ts';
import { planActions, type PlanActionParts } from '../plan/plan-actions.ts';
import { pickFile } from '../project/pick-file.ts';
import type { Project } from '../project/project.ts';
import { attachmentActions } from '../attachments/attachment-actions.ts';
import { composerActions } from './composer-actions.ts';
import type { WebviewHost } from './webview-host.ts';

export interface HostActionParts extends PlanActionParts {
  /** Changes a task that an agent must work on, and ensures that a run is active. */
  readonly andRun: (
    webview: WebviewHost,
    id: string,
    action: (project: Project) => Promise<unknown>,
  ) => Promise<void>;
  readonly preview: (webview: WebviewHost, task: string) => Promise<void>;
  readonly measured: (webview: WebviewHost, name: string, ms: number) => void;
  readonly keysDone: () => Promise<void>;
  readonly readRules: (project: Project) => Promise<RulesReport>;
}

type Actions = {
  readonly [N in Exclude<HostActionName, CommandActionName>]: (
    webview: WebviewHost,
    params: HostActions[N]['params'],
  ) => Promise<HostActions[N]['result']>;
};

const pickedFromMax = 20_000;
const copiedMax = 16 * 1024 * 1024;
const nothing = {};

export function hostActions(parts: HostActionParts): Actions {
  const { messages } = parts;
  return {
    // The state itself is sent separately, as a push.
    hello: () => Promise.resolve(nothing),
    ...taskActions(parts),
    ...composerActions(parts),
    ...documentActions,
    ...attachmentActions,
    ...planActions(parts),
    async command(webview, { id }) {
      if (!isOneOf(commandIds, id)) throw new Error('This is not a command of Drover.');
      await parts.command(id, [], webview);
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
    async pick(webview, { title, items }) {
      if (!Array.isArray(items)) throw new Error('items must be a list.');
      const choices = items.slice(0, pickedFromMax).map((item) => ({
        id: text(item.id, 'id'),
        label: plainText(text(item.label, 'label')),
        detail: plainText(text(item.detail ?? '', 'detail')),
      }));
      const back = keyboardBack(webview.name);
      const chosen = await vscode.window.showQuickPick(choices, {
        title: text(title, 'title'),
        matchOnDetail: true,
      });
      await back();
      return { id: chosen?.id ?? null };
    },
    async previewTask(webview, { task }) {
      await parts.preview(webview, text(task, 'task'));
      return nothing;
    },
    async keysHere(webview, { here }) {
      if (webview.name === 'tree') await contextSet('drover.inTree', here === true);
      return { counts: here === true };
    },
    async keysDone() {
      await parts.keysDone();
      return nothing;
    },
    readRules: (webview) => parts.readRules(webview.openProject),
    readPlace: (webview) => Promise.resolve({ place: webview.takePlace() }),
    measured(webview, { name, ms }) {
      parts.measured(webview, text(name, 'name').slice(0, 80), Number(ms));
      return Promise.resolve(nothing);
    },
  };
}

/** Actions that give a run more to do. */
function taskActions(parts: HostActionParts): Pick<Actions, 'sendBack' | 'resolve' | 'landEpic'> {
  return {
    async sendBack(webview, { id, text: words }) {
      const params = { id: text(id, 'id'), text: text(words, 'text') };
      await parts.andRun(webview, params.id, (project) =>
        project.request('task.send_back', params),
      );
      return nothing;
    },
    async resolve(webview, { task, note, anyway }) {
      const words = text(note, 'note').trim();
      const params = {
        id: text(task, 'task'),
        ...(words === '' ? {} : { note: words }),
        ...(anyway === true ? { anyway } : {}),
      };
      await parts.andRun(webview, params.id, (project) => project.request('task.resolve', params));
      return nothing;
    },
    async landEpic(webview, { epic }) {
      await parts.andRun(webview, text(epic, 'epic'), () => Promise.resolve());
      return nothing;
    },
  };
}

/** Actions that open an editor. */
const documentActions: Pick<Actions, 'openStepLog' | 'openFile' | 'pickFile'> = {
  async openStepLog(webview, { task, attempt, step }) {
    const which = step === 'setup' ? 'setup' : 'gate';
    await showStepLog(webview.openProject, text(task, 'task'), Number(attempt), which);
    return nothing;
  },
  async pickFile(webview) {
    return { path: await pickFile(webview.openProject) };
  },
  async openFile({ openProject: project }, { path, line, sha }) {
    const at = typeof line === 'number' ? line : null;
    if (typeof sha === 'string') await openAtCommit(project, text(path, 'path'), sha, at);
    else await openFile(project, text(path, 'path'), at);
    return nothing;
  },
};

function text(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new Error(`${name} must be a string.`);
  return value;
}
