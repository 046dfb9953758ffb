// A file of the repository, chosen in VS Code's own picker with its search.

import { relative, sep } from 'node:path';
import * as vscode from 'vscode';
import type { Project } from './project.ts';

const filesMax = 20_000;
const leftOut = '**/{.git,.drover,node_modules}/**';

/** Its path from the root, with slashes; null when none was chosen. */
export async function pickFile({ root }: Project): Promise<string | null> {
  const all = new vscode.RelativePattern(vscode.Uri.file(root), '**/*');
  const search = new vscode.CancellationTokenSource();
  const paths = Promise.resolve(
    vscode.workspace.findFiles(all, leftOut, filesMax, search.token),
  ).then((found) => found.map(({ fsPath }) => relative(root, fsPath).split(sep).join('/')).sort());
  const chosen = await vscode.window.showQuickPick(paths, {
    title: 'Add a File',
    placeHolder: 'The agent gets its path',
  });
  search.cancel();
  return chosen ?? null;
}
