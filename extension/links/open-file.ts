// Opens a file that a webview has named: the current version in the repository, or a read-only one
// from a worktree or a commit. Links are resolved, and nothing outside the repository and its
// worktrees is opened.

import { readFile, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import * as vscode from 'vscode';
import { fileInside } from './file-inside.ts';
import type { Project } from '../project/project.ts';
import type { Projects } from '../project/projects.ts';
import { readUri, toUriParts } from '../review/git-uri.ts';

/**
 * A file in an agent's worktree as a read-only document, so that a person does not edit it by
 * mistake, and VS Code's git does not open the worktree as another repository.
 */
const worktreeScheme = 'drover-worktree';
const shownBytesMax = 16 * 1024 * 1024;

export async function openFile(project: Project, path: string, line: number | null): Promise<void> {
  const worktrees = worktreesOf(project);
  // A relative path is relative to the root.
  const whole = isAbsolute(path) ? path : join(project.root, path);
  const inWorktree = await fileInside(whole, worktrees);
  const file = inWorktree ?? (await fileInside(whole, [project.root]));
  if (file === null) throw new Error('This file is not in the repository or in a worktree.');
  const uri =
    inWorktree === null
      ? vscode.Uri.file(file)
      : vscode.Uri.from({ scheme: worktreeScheme, path: file, query: project.root });
  await show(uri, line);
}

export async function openAtCommit(
  project: Project,
  path: string,
  sha: string,
  line: number | null,
): Promise<void> {
  const plain = path.split(sep).join('/');
  const parts = toUriParts(
    { root: project.root, sha, path: plain, review: '', side: 'head' },
    plain,
  );
  if (readUri(parts) === null) throw new Error('This is not a file of the repository.');
  await show(vscode.Uri.from(parts), line);
}

export function registerWorktreeDocuments(projects: Projects): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(worktreeScheme, {
    provideTextDocumentContent: async (uri) => {
      const project = projects.byRoot(uri.query);
      // Any web page can create such an address, so it is checked again.
      const file = project === null ? null : await fileInside(uri.path, worktreesOf(project));
      if (file === null) throw new Error('This file is not in a worktree of this repository.');
      const { size } = await stat(file);
      if (size > shownBytesMax) return `This file is too large to be shown (${size} bytes).\n`;
      return await readFile(file, 'utf8');
    },
  });
}

async function show(uri: vscode.Uri, line: number | null): Promise<void> {
  const at = Math.max(0, (line ?? 1) - 1);
  const selection = line === null ? {} : { selection: new vscode.Range(at, 0, at, 0) };
  await vscode.window.showTextDocument(uri, { preview: true, ...selection });
}

function worktreesOf({ board, root }: Project): readonly string[] {
  return (board?.tasks ?? []).flatMap(({ worktree_path: path }) =>
    path === null || relative(path, root) === '' ? [] : [path],
  );
}
