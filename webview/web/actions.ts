// Handles the panels' requests in a browser. Requests that need files or an editor on the user's
// machine are refused with a sentence.

import {
  changedBy,
  isLeftAlone,
  runAfterDecision,
  runLikeLast,
} from '../../server/protocol/decided.ts';
import type { Changed } from '../../server/protocol/decided.ts';
import type { RunOptions } from '../../server/protocol/requests/runs.ts';
import type { UndoView } from '../../server/protocol/run-views.ts';
import type { HostActionName, HostActions } from '../messages/messages.ts';
import { AskFailure } from '../shared/asks.ts';
import type { Dialogs } from './dialogs.ts';
import type { OpenProject } from './open-project.ts';
import type { PanelPlace } from './panel-frame.ts';

export interface ActionParts {
  readonly project: OpenProject;
  readonly dialogs: Dialogs;
  readonly open: (place: PanelPlace) => void;
  readonly review: (id: string) => void;
  readonly showText: (title: string, text: string) => void;
}

type Actions = {
  readonly [N in HostActionName]?: (params: HostActions[N]['params']) => Promise<unknown>;
};

const sentKey = 'drover.sent';
const sentMax = 50;
const nothing = {};

/** Answers an action of a panel; rejects with a sentence if a browser cannot do it. */
export function pageActions(
  parts: ActionParts,
): (name: HostActionName, params: object) => Promise<unknown> {
  const actions: Actions = { ...runActions(parts), ...viewActions(parts), ...textActions(parts) };
  const { root } = parts.project.project;
  const act = async (name: HostActionName | undefined, params: object): Promise<unknown> => {
    const action = name === undefined ? undefined : actions[name];
    if (action === undefined) {
      throw new AskFailure('refused', `This needs VS Code: open ${root} there.`);
    }
    return (await (action as (params: object) => Promise<unknown>)(params)) ?? nothing;
  };
  return async (name, params) => {
    if (name !== 'command') return await act(name, params);
    const { id } = params as HostActions['command']['params'];
    if (id === 'drover.resumeRun') return await parts.project.request('run.resume', {});
    return await act(commandActions[id], {});
  };
}

/** VS Code commands that a panel offers as buttons. */
const commandActions: Readonly<Record<string, HostActionName>> = {
  'drover.runAll': 'runAll',
  'drover.stopRun': 'stopRun',
  'drover.openBoard': 'openBoard',
  'drover.openGrid': 'openGrid',
  'drover.openWorktrees': 'openWorktrees',
};

/** Applies a person's decision; starts a run like the last one if the decision needs one. */
export async function decide(
  parts: ActionParts,
  id: string,
  request: () => Promise<unknown>,
): Promise<unknown> {
  const about = runAfterDecision(parts.project.board, id);
  const result = await request();
  if (about !== null) await carryOn(parts, about);
  return result;
}

async function carryOn({ project, dialogs }: ActionParts, about: Changed): Promise<void> {
  const options = runLikeLast(project.board, about);
  if (options === null || !isLeftAlone(project.board, about)) return;
  const { joined } = await project.request('run.start', options);
  if (!joined) dialogs.tell('info', 'A run like the last one has started.');
}

function runActions(parts: ActionParts): Actions {
  const { project, dialogs } = parts;
  const andRun = async (id: string, request: () => Promise<unknown>): Promise<void> => {
    const about = changedBy(project.board, id);
    await request();
    await carryOn(parts, about);
  };
  return {
    runAll: () => startRun(parts, 'all open tasks', {}),
    runEpic: ({ epic }) => startRun(parts, titleFor(project, epic), { epic }),
    runTask: ({ task }) => startRun(parts, titleFor(project, task), { tasks: [task] }),
    landEpic: ({ epic }) => andRun(epic, () => Promise.resolve()),
    retry: ({ task }) => andRun(task, () => project.request('task.retry', { id: task })),
    sendBack: ({ id, text }) => andRun(id, () => project.request('task.send_back', { id, text })),
    resolve: ({ task, note, anyway }) => {
      const words = note.trim() === '' ? {} : { note: note.trim() };
      const params = { id: task, ...words, ...(anyway === true ? { anyway } : {}) };
      return andRun(task, () => project.request('task.resolve', params));
    },
    async followUp({ task, text, plansFirst }) {
      const [first = ''] = text.trim().split('\n');
      const fields = { title: first.slice(0, 80), description: text, continues: task };
      const added = await project.request('task.add', { ...fields, plan: plansFirst });
      await carryOn(parts, changedBy(project.board, added.id));
      parts.open({ name: 'stream', id: added.id, attempt: null });
    },
    async retryFailed({ ids }) {
      const failed = ids.filter((id) => statusFor(project, id) === 'failed');
      for (const id of failed) await project.request('task.retry', { id });
      const [first] = failed;
      if (first !== undefined) await carryOn(parts, changedBy(project.board, first));
    },
    async stopRun() {
      const detail = 'Its agents are ended, and their work is kept. Resume continues it.';
      if (!(await dialogs.confirm('Stop the run?', detail, 'Stop'))) return;
      const { stopped } = await project.request('run.stop', {});
      if (stopped.length === 0) return dialogs.tell('info', 'No run is active.');
      const pressed = await dialogs.show('info', 'The run was stopped.', ['Resume']);
      if (pressed === 'Resume') await project.request('run.resume', {});
    },
    async undoLanding({ id }) {
      const plan: UndoView = await project.request('undo', { id, dry_run: true });
      const titles = plan.dependents.map((each) => `“${titleFor(project, each)}”`);
      const stays =
        titles.length === 0 ? '' : ` These depend on it and stay: ${titles.join(', ')}.`;
      const way =
        plan.pull_requests.length === 0
          ? 'and lands like any other.'
          : 'and to the forge as a pull request.';
      const detail = `A commit that reverts it goes through the gate ${way}${stays}`;
      const question = `Undo the landing of “${titleFor(project, id)}”?`;
      if (!(await dialogs.confirm(question, detail, 'Undo'))) return;
      const { line, state } = await project.request('undo', { id });
      dialogs.tell('info', undoWords(line, state));
    },
  };
}

function undoWords(line: string, state: UndoView['state']): string {
  switch (state) {
    case 'running':
      return `The gate runs on ${line} without it.`;
    case 'sent':
      return 'The gate passed. The pull request with the revert is being opened.';
    case 'planned':
    case 'undone':
      return 'It is undone.';
  }
}

/** First shows the user everything that would prevent the run from working. */
async function startRun(
  { project, dialogs }: ActionParts,
  what: string,
  scope: RunOptions,
): Promise<void> {
  const view = await project.request('preflight', scope);
  const lines = view.checks
    .filter(({ outcome }) => outcome !== 'ok')
    .map(({ message, remedy }) => (remedy === null ? message : `${message} ${remedy}`));
  if (!view.can_run) {
    await dialogs.show('error', `The run of ${what} cannot start. ${lines.join(' ')}`, []);
    return;
  }
  const tasks = view.tasks === 1 ? '1 task' : `${view.tasks} tasks`;
  const detail = [`${tasks}, up to ${view.width} at the same time.`, ...lines].join('\n');
  if (!(await dialogs.confirm(`Run ${what}?`, detail, 'Run'))) return;
  const started = await project.request('run.start', scope);
  if (started.joined) dialogs.tell('info', started.message);
}

function viewActions({ project, open, review, showText }: ActionParts): Actions {
  const stream = (task: string, attempt: number | null = null): Promise<void> =>
    Promise.resolve(open({ name: 'stream', id: task, attempt }));
  return {
    openStream: ({ task, attempt }) => stream(task, attempt ?? null),
    previewTask: ({ task }) => stream(task),
    openGrid: () => Promise.resolve(open({ name: 'grid', id: null, attempt: null })),
    openWorktrees: () => Promise.resolve(open({ name: 'worktrees', id: null, attempt: null })),
    openBoard: ({ epic }) =>
      Promise.resolve(open({ name: 'board', id: epic ?? null, attempt: null })),
    review: ({ id }) => Promise.resolve(review(id)),
    async openStepLog({ task, attempt, step }) {
      const { text } = await project.request('step.log', { id: task, attempt, step });
      showText(`${step === 'gate' ? 'Gate' : 'Set-up'} of ${titleFor(project, task)}`, text);
    },
    async openFile({ path, sha }) {
      const at = sha ?? project.board?.target?.sha;
      if (typeof at !== 'string') throw new AskFailure('refused', 'This file is not committed.');
      const { text } = await project.request('file.read', { sha: at, path });
      if (text === null) throw new AskFailure('not_found', `${path} is not a text of this commit.`);
      showText(path, text);
    },
    readPlace: () => Promise.resolve({ place: null }),
    readRules: () =>
      Promise.reject(
        new AskFailure('refused', 'VS Code and drover doctor --forge show the rules.'),
      ),
    readPlan: () => Promise.resolve({ plan: null }),
    checkPlan: () => Promise.resolve({ problem: null, fresh: 0, changed: 0, unchanged: 0 }),
    measured: () => Promise.resolve(),
    keysHere: () => Promise.resolve({ counts: false }),
    keysDone: () => Promise.resolve(),
  };
}

function textActions({ dialogs }: ActionParts): Actions {
  return {
    copy: ({ text }) => navigator.clipboard.writeText(text),
    notify: async ({ level, text, buttons }) => ({
      button: await dialogs.show(level, text, buttons ?? []),
    }),
    pick: async ({ title, items }) => ({ id: await dialogs.pick(title, items) }),
    findFiles: () => Promise.resolve({ paths: [] }),
    quoteSelection: () => Promise.resolve({ text: null }),
    sentMessages: ({ add }) => Promise.resolve({ texts: sentTexts(add) }),
  };
}

/** Stored in this browser, oldest first. */
function sentTexts(add: string | undefined): readonly string[] {
  const raw: unknown = JSON.parse(localStorage.getItem(sentKey) ?? '[]');
  const known = Array.isArray(raw) ? raw.filter((each) => typeof each === 'string') : [];
  if (add === undefined || add.trim() === '') return known;
  const texts = [...known.filter((each) => each !== add), add].slice(-sentMax);
  localStorage.setItem(sentKey, JSON.stringify(texts));
  return texts;
}

function titleFor({ board }: OpenProject, id: string): string {
  const named = [...(board?.tasks ?? []), ...(board?.epics ?? [])].find((each) => each.id === id);
  return named?.title ?? id;
}

function statusFor({ board }: OpenProject, id: string): string | null {
  return board?.tasks.find((task) => task.id === id)?.status ?? null;
}
