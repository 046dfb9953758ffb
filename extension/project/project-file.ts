// The `.drover.toml` of a project, opened and edited in VS Code, so that a person sees each change
// and can undo it.

import { join } from 'node:path';
import * as vscode from 'vscode';

export function projectFile(root: string): vscode.Uri {
  return vscode.Uri.file(join(root, '.drover.toml'));
}

/** `change` returns null if only a person can change a file in this form. */
export async function changeProjectFile(
  root: string,
  what: string,
  change: (text: string) => string | null,
): Promise<void> {
  const uri = projectFile(root);
  const edit = new vscode.WorkspaceEdit();
  edit.createFile(uri, { ignoreIfExists: true });
  await vscode.workspace.applyEdit(edit);
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  const text = change(document.getText());
  if (text === null)
    throw new Error(`This .drover.toml sets ${what} in a form that only you can change.`);
  const replacement = new vscode.WorkspaceEdit();
  replacement.replace(uri, new vscode.Range(0, 0, document.lineCount, 0), text);
  await vscode.workspace.applyEdit(replacement);
  await document.save();
}
