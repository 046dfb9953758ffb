// The checks before a run as a quick pick: the first row starts it, every other row is a check that one can read.

import * as vscode from 'vscode';
import { formatCount } from '../../server/core/format.ts';
import type { PreflightCheck, PreflightView } from '../../server/protocol/panel-views.ts';
import type { EpicView } from '../../server/protocol/views.ts';
import { toFailure } from '../backend/failure.ts';
import { plainText } from '../plain-text.ts';
import type { Project } from '../project.ts';
import { settingsSection } from '../settings.ts';
import type { CommandContext } from './context.ts';

interface Row extends vscode.QuickPickItem {
  readonly starts: boolean;
  /** Retried before the run starts. */
  readonly retries?: readonly string[];
}

const outcomeIcons: { readonly [O in PreflightCheck['outcome']]: string } = {
  ok: 'pass',
  note: 'info',
  warning: 'warning',
  error: 'error',
};

const outcomeWords: { readonly [O in PreflightCheck['outcome']]: string } = {
  ok: 'ok',
  note: 'note',
  warning: 'warning',
  error: 'has to be solved first',
};

/** True when the run shall start. */
export async function askPreflight(
  { messages, log }: CommandContext,
  project: Project,
  epic: EpicView | null,
): Promise<boolean> {
  const { workers, land } = project.settings;
  const what = epic === null ? 'all open tasks' : plainText(epic.title, 60);
  const checked = vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: `Drover: checking before a run of ${what}` },
    () =>
      project.request('preflight', {
        ...(epic === null ? {} : { epic: epic.id }),
        ...(workers === 0 ? {} : { workers }),
        ...(land === '' ? {} : { land }),
      }),
  );
  try {
    const view = await checked;
    const chosen = await showChecks(what, view, failedIn(project, epic));
    for (const id of chosen?.retries ?? []) await project.request('task.retry', { id });
    return chosen !== null;
  } catch (error) {
    const { message } = toFailure(error);
    log.warn(`preflight: ${message}`);
    const text = `The checks before the run could not be made: ${message}`;
    return (await messages.show('warning', text, ['Run Anyway'])) === 'Run Anyway';
  }
}

function failedIn({ board }: Project, epic: EpicView | null): readonly string[] {
  const failed = board?.tasks.filter(({ status }) => status === 'failed') ?? [];
  return failed.filter((task) => epic === null || task.epic_id === epic.id).map(({ id }) => id);
}

/** `failed`: tasks that a run leaves alone unless they are retried first. */
export function preflightRows(view: PreflightView, failed: readonly string[] = []): readonly Row[] {
  const tasks = `${view.tasks} task${view.tasks === 1 ? '' : 's'}`;
  const isEmpty = view.can_run && view.tasks === 0;
  const retry: Row = {
    starts: true,
    retries: failed,
    label: `$(debug-restart) Retry ${formatCount(failed.length, 'failed task')} and run`,
    description: 'Each continues in its worktree with what went wrong',
  };
  const first: Row = isEmpty
    ? { starts: false, label: '$(info) Nothing is left to run', description: tasks }
    : view.can_run
      ? { starts: true, label: '$(play) Run', description: `${tasks}, up to ${view.width} at once` }
      : { starts: false, label: '$(circle-slash) This run can not start', description: tasks };
  const order = ['error', 'warning', 'note', 'ok'];
  const sorted = [...view.checks].sort(
    (a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome),
  );
  const checks = sorted.map(({ name, outcome, message, remedy }): Row => {
    return {
      starts: false,
      label: `$(${outcomeIcons[outcome]}) ${plainText(message, 160)}`,
      description: outcome === 'ok' ? name : `${name}: ${outcomeWords[outcome]}`,
      ...(remedy === null ? {} : { detail: plainText(remedy, 200) }),
    };
  });
  const hasRetry = failed.length > 0 && view.can_run;
  if (!hasRetry) return [first, ...checks];
  return view.tasks === 0 ? [retry, ...checks] : [first, retry, ...checks];
}

/** Null: the person went away. */
function showChecks(
  what: string,
  view: PreflightView,
  failed: readonly string[],
): Promise<Row | null> {
  const pick = vscode.window.createQuickPick<Row>();
  pick.title = `Run ${what}`;
  pick.placeholder = view.can_run
    ? 'Enter starts the run, Escape leaves everything as it is'
    : 'Solve what is marked, then run again';
  pick.ignoreFocusOut = true;
  pick.items = preflightRows(view, failed);
  const never: vscode.QuickInputButton = {
    iconPath: new vscode.ThemeIcon('bell-slash'),
    tooltip: "Don't show these checks before a run",
  };
  pick.buttons = [never];
  return new Promise((resolve) => {
    pick.onDidTriggerButton(() => {
      const section = vscode.workspace.getConfiguration(settingsSection);
      void section.update('showPreflight', false, vscode.ConfigurationTarget.Global);
      pick.buttons = [];
    });
    pick.onDidAccept(() => {
      const [row] = pick.activeItems;
      if (row?.starts !== true) return;
      resolve(row);
      pick.hide();
    });
    pick.onDidHide(() => {
      resolve(null);
      pick.dispose();
    });
    pick.show();
  });
}
