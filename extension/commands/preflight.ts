// The decision before a run as a quick pick: the first row starts it; the others change how it
// runs, solve a problem, or inform.

import * as vscode from 'vscode';
import type { PreflightView } from '../../server/protocol/panel-views.ts';
import { canLand } from '../../server/protocol/needs.ts';
import type { EpicView, TaskView } from '../../server/protocol/views.ts';
import { toFailure } from '../backend/failure.ts';
import { keyboardBack } from '../notices/keyboard-back.ts';
import { withTitles } from '../notices/named-ids.ts';
import { plainText } from '../notices/plain-text.ts';
import type { Project } from '../project/project.ts';
import { writeUserSetting } from '../project/settings.ts';
import type { CommandId } from '../ids.ts';
import { openSignIn } from './agents.ts';
import type { CommandContext } from './context.ts';
import { accepted, decide, type Decided } from './preflight-decide.ts';
import {
  preflightRows,
  type PreflightRow,
  type PreflightState,
  type RowAction,
} from './preflight-rows.ts';
import { readStoredChoices, keepChoices, withSettings, type RunChoices } from './run-choices.ts';

interface Item extends vscode.QuickPickItem {
  readonly row: PreflightRow;
}

/** The scope of a run: its epic, if it has one, and its tasks, if it runs single tasks. */
export interface RunScope {
  readonly epic: EpicView | null;
  /** Top-level tasks, or null for the whole epic, or for all open tasks. */
  readonly tasks: readonly TaskView[] | null;
}

/** The options of the run; null if it must not start. */
export async function askPreflight(
  context: CommandContext,
  project: Project,
  scope: RunScope,
  env: () => Promise<Readonly<Record<string, string>>>,
): Promise<RunChoices | null> {
  const { epic } = scope;
  const { extension, messages } = context;
  const memory = extension.workspaceState;
  const back = keyboardBack();
  let choices = readStoredChoices(memory, project.root, epic?.id ?? null);
  let isUnfolded = false;
  let toDo: string | null = null;
  for (;;) {
    // A key that a remedy has stored takes effect at once.
    const view = await checkOrAsk(context, project, scope, { ...choices, env: await env() });
    if (typeof view === 'string') return view === 'runAnyway' ? choices : null;
    const rows = preflightRows(view, {
      ...retryable(project, scope),
      chosen: choices,
      isUnfolded,
      toDo,
    });
    const action = await choose(scope, view, rows, (error) => messages.fail(null, error));
    const changed = await changedBy(context, action, choices, view, epic !== null);
    if (changed !== null && 'toDo' in changed) {
      ({ toDo } = changed);
      continue;
    }
    if (changed !== null) {
      ({ choices } = changed);
      await keepChoices(memory, project.root, epic?.id ?? null, choices);
      continue;
    }
    switch (action?.kind) {
      case undefined:
        await back();
        return null;
      case 'run':
      case 'retryAndRun':
        for (const id of action.kind === 'run' ? [] : action.tasks)
          await project.request('task.retry', { id });
        await back();
        return choices;
      case 'command':
        if (await comesBackFrom(action.id)) continue;
        return null;
      case 'testBase':
        await testBase(context, project, scope, { ...choices, env: await env() });
        continue;
      case 'signIn':
        toDo = openSignIn(action.agent, action.line);
        continue;
      case 'unfold':
        isUnfolded = true;
        continue;
      // The user left a question with Escape, so the decision is shown again.
      case 'decide':
      case 'accept':
      case 'useSettings':
        continue;
      case 'lookAgain':
        if (toDo !== null) toDo = stillMissing;
        continue;
    }
  }
}

/** Shown only while something is missing. A new folder in PATH takes effect after a restart. */
const stillMissing = 'Still missing. If it is installed in a new folder, restart VS Code';

/** If the checks fail to run, the user decides whether to run without them. */
async function checkOrAsk(
  { log, messages }: CommandContext,
  project: Project,
  scope: RunScope,
  choices: RunChoices & { readonly env: Readonly<Record<string, string>> },
): Promise<PreflightView | 'runAnyway' | 'canceled'> {
  try {
    return await check(project, scope, choices);
  } catch (error) {
    const { kind, message } = toFailure(error);
    // No run could start in this case either.
    if (kind === 'bad_configuration') throw error;
    log.warn(`preflight: ${message}`);
    const text = `The checks before the run could not be made: ${message}`;
    const pressed = await messages.show('warning', text, ['Run Anyway']);
    return pressed === null ? 'canceled' : 'runAnyway';
  }
}

const comesBack: ReadonlySet<string> = new Set<CommandId>([
  'drover.firstCommit',
  'drover.setApiKey',
]);

/**
 * Executes a remedy. Returns true if the checks must run again afterwards: other remedies open an
 * editor or a view, which the list of checks would cover.
 */
async function comesBackFrom(id: string): Promise<boolean> {
  await vscode.commands.executeCommand(id);
  return comesBack.has(id);
}

async function check(
  project: Project,
  scope: RunScope,
  choices: RunChoices & { readonly env: Readonly<Record<string, string>> },
): Promise<PreflightView> {
  const title = `Drover: checking before a run of ${nameOf(scope)}`;
  return await vscode.window.withProgress({ location: vscode.ProgressLocation.Window, title }, () =>
    project
      .request('preflight', {
        ...scopeParams(scope),
        ...withSettings(project.settings, choices),
      })
      .then((view) => withTitlesOfTasks(view, project.board)),
  );
}

/** The backend's sentences name tasks by their ids. */
function withTitlesOfTasks(view: PreflightView, board: Project['board']): PreflightView {
  const checks = view.checks.map((check) => ({
    ...check,
    message: withTitles(check.message, board),
  }));
  return { ...view, checks };
}

/** The gate on the branch that work will land on; its result is a row of the next check. */
async function testBase(
  { messages }: CommandContext,
  project: Project,
  scope: RunScope,
  choices: RunChoices & { readonly env: Readonly<Record<string, string>> },
): Promise<void> {
  const { tasks: _tasks, ...params } = scopeParams(scope);
  const title = 'Drover: running the gate before any work';
  const location = vscode.ProgressLocation.Notification;
  try {
    const { outcome, message } = await vscode.window.withProgress({ location, title }, () =>
      project.request('gate.test', { ...params, ...withSettings(project.settings, choices) }),
    );
    // The row says whether it passed.
    if (outcome === 'unknown')
      messages.tell('warning', `The gate could not run${message === null ? '.' : `: ${message}`}`);
  } catch (error) {
    messages.tell('warning', `The gate could not run: ${toFailure(error).message}`);
  }
}

/** Returns null if the choices stay unchanged. */
async function changedBy(
  context: CommandContext,
  action: RowAction | null,
  choices: RunChoices,
  { decisions }: PreflightView,
  hasEpic: boolean,
): Promise<Decided> {
  switch (action?.kind) {
    case undefined:
      return null;
    case 'decide': {
      const present = decisions.find(({ name }) => name === action.name);
      return await decide(context, action.name, choices, present, hasEpic);
    }
    case 'accept': {
      const taken = accepted(action.decision, choices);
      return taken === null ? null : { choices: taken };
    }
    case 'useSettings':
      return { choices: {} };
    case 'run':
    case 'retryAndRun':
    case 'command':
    case 'testBase':
    case 'signIn':
    case 'lookAgain':
    case 'unfold':
      return null;
  }
}

/** The format of the requests: single tasks include their epic. */
export function scopeParams({ epic, tasks }: RunScope): {
  readonly epic?: string;
  readonly tasks?: readonly string[];
} {
  if (tasks !== null) return { tasks: tasks.map(({ id }) => id) };
  return epic === null ? {} : { epic: epic.id };
}

function nameOf({ epic, tasks }: RunScope): string {
  const [first, ...more] = tasks ?? [];
  if (first !== undefined) {
    return more.length === 0 ? plainText(first.title, 60) : `${more.length + 1} tasks`;
  }
  return epic === null ? 'all open tasks' : plainText(epic.title, 60);
}

/** A run of single tasks concerns no other tasks. */
function retryable(
  { board }: Project,
  { epic, tasks }: RunScope,
): Pick<PreflightState, 'failed' | 'behindRedBase' | 'canLand'> {
  const open = board?.tasks ?? [];
  const all = tasks ?? open.filter((task) => epic === null || task.epic_id === epic.id);
  return {
    failed: all.filter(({ status }) => status === 'failed').map(({ id }) => id),
    canLand: tasks === null && epic !== null && canLand(epic),
    behindRedBase: all.filter(({ block }) => block?.kind === 'red_base').map(({ id }) => id),
  };
}

/** Returns null if the user cancels. */
function choose(
  scope: RunScope,
  view: PreflightView,
  rows: readonly PreflightRow[],
  fail: (error: unknown) => void,
): Promise<RowAction | null> {
  const pick = vscode.window.createQuickPick<Item>();
  pick.title = `Run ${nameOf(scope)}`;
  pick.placeholder = view.can_run
    ? 'Enter on the first row starts the run; on another row it changes how it runs'
    : 'Fix what is marked, then choose Look Again';
  pick.ignoreFocusOut = true;
  const items = rows.map(itemOf);
  pick.items = items;
  // If the run cannot start, Enter runs the first remedy, or checks again.
  const first =
    items.find(({ row }) => row.isNext === true) ??
    items.find(({ row }) => row.action !== undefined);
  if (first !== undefined) pick.activeItems = [first];
  const never: vscode.QuickInputButton = {
    iconPath: new vscode.ThemeIcon('bell-slash'),
    tooltip: "Don't ask before a run: use the settings and what was chosen last",
  };
  pick.buttons = [never];
  return new Promise((resolve) => {
    const end = (action: RowAction): void => {
      resolve(action);
      pick.hide();
    };
    pick.onDidTriggerButton(() => {
      pick.buttons = [];
      writeUserSetting('showPreflight', false).catch((error: unknown) => fail(error));
    });
    pick.onDidTriggerItemButton(({ item, button }) => {
      const fix = item.row.fixes.find(({ tooltip }) => tooltip === button.tooltip);
      if (fix !== undefined) end(fix.action);
    });
    pick.onDidAccept(() => {
      const action = pick.activeItems[0]?.row.action;
      if (action !== undefined) end(action);
    });
    pick.onDidHide(() => {
      resolve(null);
      pick.dispose();
    });
    pick.show();
  });
}

function itemOf(row: PreflightRow): Item {
  const { isHeading, isNext: _isNext, action: _action, fixes, ...item } = row;
  if (isHeading === true) return { ...item, kind: vscode.QuickPickItemKind.Separator, row };
  const buttons = fixes.map(({ icon, tooltip }) => {
    return { iconPath: new vscode.ThemeIcon(icon), tooltip };
  });
  return { ...item, buttons, row };
}
