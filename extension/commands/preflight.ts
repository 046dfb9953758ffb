// The checks before a run as a quick pick: the first row starts it, every other row is a check that one can read.

import * as vscode from 'vscode';
import type { PreflightCheck, PreflightView } from '../../server/protocol/panel-views.ts';
import type { EpicView } from '../../server/protocol/views.ts';
import { toFailure } from '../backend/failure.ts';
import { plainText } from '../plain-text.ts';
import type { Project } from '../project.ts';
import { settingsSection } from '../settings.ts';
import type { CommandContext } from './context.ts';

interface Row extends vscode.QuickPickItem {
  readonly starts: boolean;
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
    return await showChecks(what, await checked);
  } catch (error) {
    const { message } = toFailure(error);
    log.warn(`preflight: ${message}`);
    const text = `The checks before the run could not be made: ${message}`;
    return (await messages.show('warning', text, ['Run Anyway'])) === 'Run Anyway';
  }
}

export function preflightRows(view: PreflightView): readonly Row[] {
  const tasks = `${view.tasks} task${view.tasks === 1 ? '' : 's'}`;
  const first: Row = view.can_run
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
  return [first, ...checks];
}

function showChecks(what: string, view: PreflightView): Promise<boolean> {
  const pick = vscode.window.createQuickPick<Row>();
  pick.title = `Run ${what}`;
  pick.placeholder = view.can_run
    ? 'Enter starts the run, Escape leaves everything as it is'
    : 'Solve what is marked, then run again';
  pick.ignoreFocusOut = true;
  pick.items = preflightRows(view);
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
      if (pick.activeItems[0]?.starts !== true) return;
      resolve(true);
      pick.hide();
    });
    pick.onDidHide(() => {
      resolve(false);
      pick.dispose();
    });
    pick.show();
  });
}
