// The light bulb at a problem or a TODO offers to make a task from it.

import * as vscode from 'vscode';
import type { CommandId } from '../ids.ts';
import { findTodo } from './task-from-code.ts';

const title = 'Drover: Make a Task of This';

/** `isWanted` is true if Drover is set up in this window. */
export function registerCodeActions(isWanted: () => boolean): vscode.Disposable {
  const command: CommandId = 'drover.makeTask';
  const provider: vscode.CodeActionProvider = {
    provideCodeActions(document, range, { diagnostics }) {
      if (!isWanted()) return [];
      const isReported = diagnostics.length > 0;
      if (!isReported && findTodo(document.lineAt(range.start.line).text) === null) return [];
      const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
      action.command = { title, command, arguments: [document.uri, range] };
      if (isReported) action.diagnostics = [...diagnostics];
      return [action];
    },
  };
  const kinds = { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] };
  return vscode.languages.registerCodeActionsProvider({ scheme: 'file' }, provider, kinds);
}
