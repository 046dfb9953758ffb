// The plan as a list with checkboxes: which tasks are added, under which titles, or the whole of it
// as text.

import * as vscode from 'vscode';
import { formatCount } from '../../server/core/format.ts';
import type { SpecPlanView } from '../../server/protocol/spec-plan.ts';
import { planRows, type PlanRow } from '../plan/plan-choice.ts';
import { whyNoTitle } from '../plan/task-title.ts';

export type PlanPicked =
  | {
      readonly kind: 'add';
      readonly ids: ReadonlySet<string>;
      readonly titles: ReadonlyMap<string, string>;
    }
  | { readonly kind: 'text' };

interface Item extends vscode.QuickPickItem {
  readonly row: PlanRow;
}

type Step =
  | PlanPicked
  | { readonly kind: 'rename'; readonly id: string; readonly ids: Set<string> };

/** Null: the person canceled, and nothing is added. */
export async function pickFromPlan(plan: SpecPlanView): Promise<PlanPicked | null> {
  const titles = new Map<string, string>();
  let ids = new Set(plan.tasks.map(({ id }) => id));
  for (;;) {
    const step = await showPlan(plan, titles, ids);
    if (step?.kind !== 'rename') return step;
    ids = step.ids;
    const present = titles.get(step.id) ?? plan.tasks.find(({ id }) => id === step.id)?.title;
    const title = await vscode.window.showInputBox({
      title: 'Title of the Task',
      value: present ?? '',
      validateInput: whyNoTitle,
    });
    if (title !== undefined) titles.set(step.id, title.trim());
  }
}

function showPlan(
  plan: SpecPlanView,
  titles: ReadonlyMap<string, string>,
  ids: ReadonlySet<string>,
): Promise<Step | null> {
  const pick = vscode.window.createQuickPick<Item>();
  const asText: vscode.QuickInputButton = {
    iconPath: new vscode.ThemeIcon('json'),
    tooltip: 'Edit as Text',
  };
  const rename: vscode.QuickInputButton = {
    iconPath: new vscode.ThemeIcon('edit'),
    tooltip: 'Change the Title…',
  };
  pick.title = `Plan: ${formatCount(plan.epics.length, 'epic')}, ${formatCount(plan.tasks.length, 'task')}`;
  pick.placeholder = 'Enter adds what is checked to the board. Nothing runs yet.';
  pick.canSelectMany = true;
  pick.ignoreFocusOut = true;
  pick.matchOnDescription = true;
  pick.buttons = [asText];
  pick.items = planRows(plan, titles).map((row) => itemOf(row, rename));
  pick.selectedItems = pick.items.filter(({ row }) => row.id !== null && ids.has(row.id));
  const selected = (): Set<string> => {
    return new Set(pick.selectedItems.flatMap(({ row }) => row.id ?? []));
  };
  return new Promise((resolve) => {
    const end = (step: Step): void => {
      resolve(step);
      pick.hide();
    };
    pick.onDidTriggerButton(() => end({ kind: 'text' }));
    pick.onDidTriggerItemButton(({ item }) => {
      if (item.row.id !== null) end({ kind: 'rename', id: item.row.id, ids: selected() });
    });
    pick.onDidAccept(() => {
      const chosen = selected();
      if (chosen.size > 0) end({ kind: 'add', ids: chosen, titles });
    });
    pick.onDidHide(() => {
      resolve(null);
      pick.dispose();
    });
    pick.show();
  });
}

function itemOf(row: PlanRow, rename: vscode.QuickInputButton): Item {
  const { id, label, description, detail } = row;
  if (id === null) return { label, kind: vscode.QuickPickItemKind.Separator, row };
  return { label, description, detail, buttons: [rename], row };
}
