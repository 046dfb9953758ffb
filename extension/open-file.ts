// Opens a file that a webview has named: only inside the repository or one of its worktrees, links resolved.

import * as vscode from 'vscode';
import { fileInside } from './file-inside.ts';
import type { Project } from './project.ts';

export async function openFile(project: Project, path: string, line: number | null): Promise<void> {
  const worktrees = (project.board?.tasks ?? []).flatMap(({ worktree_path }) => {
    return worktree_path === null ? [] : [worktree_path];
  });
  const file = await fileInside(path, [project.root, ...worktrees]);
  if (file === null) throw new Error('This file is not in the repository or in a worktree.');
  const at = Math.max(0, (line ?? 1) - 1);
  const selection = line === null ? {} : { selection: new vscode.Range(at, 0, at, 0) };
  await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: true, ...selection });
}
