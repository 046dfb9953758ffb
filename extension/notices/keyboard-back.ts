// A VS Code prompt (quick pick, input box, dialog) loses the keyboard focus if a page had it,
// because VS Code returns the focus only to the page's outer frame.

import * as vscode from 'vscode';
import { webviewIds, type PanelName, type SideViewName } from '../ids.ts';
import { contextValue } from './context-keys.ts';

/**
 * Call it before the prompt, and call its result afterwards: the page that had the focus gets it
 * again. The task tree reports when it has the focus; a panel that prompts has it.
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
