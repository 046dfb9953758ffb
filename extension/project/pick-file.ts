// Files of the repository, listed or chosen in VS Code's own picker with its search.

import { relative, sep } from 'node:path';
import * as vscode from 'vscode';
import type { Project } from './project.ts';

const filesMax = 20_000;
const leftOut = '**/{.git,.drover,node_modules}/**';

/** How long one list of files serves consecutive keystrokes. */
const listedForMs = 5_000;
const listed = new Map<string, { readonly atMs: number; readonly paths: Promise<string[]> }>();

/** Returns the repository's files, up to a limit, as paths relative to its root. */
export async function repositoryPaths({ root }: Project): Promise<readonly string[]> {
  const known = listed.get(root);
  if (known !== undefined && Date.now() - known.atMs < listedForMs) return await known.paths;
  const paths = findPaths(root, new vscode.CancellationTokenSource().token);
  listed.set(root, { atMs: Date.now(), paths });
  return await paths;
}

async function findPaths(root: string, token: vscode.CancellationToken): Promise<string[]> {
  const all = new vscode.RelativePattern(vscode.Uri.file(root), '**/*');
  const found = await vscode.workspace.findFiles(all, leftOut, filesMax, token);
  return found.map(({ fsPath }) => relative(root, fsPath).split(sep).join('/')).sort();
}

/** Returns the path relative to the root, with slashes, or null if none was chosen. */
export async function pickFile({ root }: Project): Promise<string | null> {
  const search = new vscode.CancellationTokenSource();
  const paths = findPaths(root, search.token);
  const chosen = await vscode.window.showQuickPick(paths, {
    title: 'Add a File',
    placeHolder: 'The agent gets its path',
  });
  search.cancel();
  return chosen ?? null;
}
