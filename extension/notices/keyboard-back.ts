// A question of VS Code (quick pick, input box, dialog) leaves the keyboard nowhere if a page had
// it, because VS Code gives it back to the page's outer frame only.

import * as vscode from 'vscode';
import { webviewIds, type PanelName, type SideViewName } from '../ids.ts';
import { contextValue } from './context-keys.ts';

/**
 * Call it before the question, and its result after it: the page that had the keyboard has it
 * again. The task tree reports when it has the keyboard; a panel that asks has it.
 */
export function keyboardBack(page: SideViewName | PanelName = 'tree'): () => Promise<void> {
  if (page === 'inbox') return async () => {};
  const wasInTree = contextValue('drover.inTree') === true;
  const command =
    page !== 'tree'
      ? 'workbench.action.focusActiveEditorGroup'
      : wasInTree
        ? `${webviewIds.tree}.focus`
        : null;
  return async () => {
    if (command !== null) await vscode.commands.executeCommand(command);
  };
}
